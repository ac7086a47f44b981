import type { CacheMark, Part, TextPart, ToolCallPart, ToolResultPart, Turn } from './content.js';
import type { TranslationWarnings } from './warnings.js';

/** A turn that may still be added to. */
interface BuiltTurn extends Turn {
  readonly parts: Part[];
}

/** Puts a conversation together as dialects read it: what stands before it, then turns without neighbours of one role. */
export class ConversationBuilder {
  readonly lead: TextPart[] = [];
  private readonly built: BuiltTurn[] = [];

  get turns(): readonly Turn[] {
    return this.built;
  }

  /** An instruction: before the conversation it joins the lead, within it is a turn of its own. Empty texts are dropped. */
  instruct(text: string, cache?: CacheMark): void {
    if (text === '') return;
    const part: TextPart = { kind: 'text', text, ...(cache !== undefined && { cache }) };
    if (this.built.length === 0) this.lead.push(part);
    else this.built.push({ role: 'system', parts: [part] });
  }

  /** Parts of a turn; they join the turn before them when it is the same side's. Empty texts are dropped. */
  say(role: 'user' | 'assistant', parts: readonly Part[]): void {
    const said = parts.filter((part) => part.kind !== 'text' || part.text !== '');
    if (said.length > 0) join(this.built, { role, parts: said });
  }
}

/** A turn of its own, or more of the one before it when that is the same side's. */
function join(built: BuiltTurn[], { role, parts }: Turn): void {
  const last = built.at(-1);
  if (last?.role !== role || role === 'system') built.push({ role, parts: [...parts] });
  // There may be more of them than a call can have arguments.
  else for (const part of parts) last.parts.push(part);
}

/**
 * The turns as every upstream demands them: the results of an assistant's calls come at once behind it and first in
 * their turn, each call of an answered turn has one, and no result is without its call.
 * @throws AppError when the key is strict and something had to be made up or turned into text
 */
export function pairResults(turns: readonly Turn[], losses: TranslationWarnings): readonly Turn[] {
  const { resultOf, orphans } = match(turns);
  const built: BuiltTurn[] = [];
  turns.forEach((turn, index) => {
    const parts = turn.parts.flatMap((part): Part[] => {
      if (part.kind !== 'tool-result') return [part];
      return orphans.has(part) ? [...textsOf(part, losses)] : [];
    });
    if (parts.length > 0) join(built, { ...turn, parts });
    if (turn.role !== 'assistant') return;
    const isLast = index === turns.length - 1;
    const results = callsOf(turn).flatMap((call) => {
      const result = resultOf.get(call);
      return result !== undefined ? [result] : isLast ? [] : [noResult(call, losses)];
    });
    if (results.length > 0) join(built, { role: 'user', parts: results });
  });
  return built;
}

/** Which result belongs to which call: ids may come again in a long conversation. */
function match(turns: readonly Turn[]): {
  readonly resultOf: ReadonlyMap<ToolCallPart, ToolResultPart>;
  readonly orphans: ReadonlySet<ToolResultPart>;
} {
  const open = new Map<string, ToolCallPart>();
  const resultOf = new Map<ToolCallPart, ToolResultPart>();
  const orphans = new Set<ToolResultPart>();
  for (const part of turns.flatMap(({ parts }) => parts)) {
    if (part.kind === 'tool-call') open.set(part.id, part);
    if (part.kind !== 'tool-result') continue;
    const call = open.get(part.id);
    if (call === undefined) orphans.add(part);
    else resultOf.set(call, part);
    open.delete(part.id);
  }
  return { resultOf, orphans };
}

const callsOf = ({ parts }: Turn): readonly ToolCallPart[] => parts.filter((part) => part.kind === 'tool-call');

function noResult({ id, isFreeform }: ToolCallPart, losses: TranslationWarnings): ToolResultPart {
  losses.warn('tool_result_missing', 'messages');
  return { kind: 'tool-result', id, parts: [{ kind: 'text', text: '[no result]' }], isError: true, isFreeform };
}

function textsOf({ id, parts }: ToolResultPart, losses: TranslationWarnings): readonly Part[] {
  losses.warn('tool_result_without_call', 'messages');
  return [{ kind: 'text', text: `Result of the tool call ${id}:` }, ...parts];
}

const ERROR = 'Error: ';

/** A failed result for dialects that can only say so in its text. */
export function withErrorText({ parts, isError }: ToolResultPart): ToolResultPart['parts'] {
  if (!isError) return parts;
  const [first, ...others] = parts;
  if (first?.kind !== 'text') return [{ kind: 'text', text: ERROR.trimEnd() }, ...parts];
  return first.text.startsWith(ERROR) ? parts : [{ ...first, text: ERROR + first.text }, ...others];
}
