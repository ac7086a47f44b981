import { type Effort, EFFORTS } from '../call.js';
import type {
  CacheMark,
  FilePart,
  Part,
  ReasoningRequest,
  Source,
  TextPart,
  ToolCallPart,
  ToolResultPart,
  Turn,
} from './content.js';
import { malformed, type TranslationWarnings } from './warnings.js';

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

const DATA_URL = /^data:([\w.+-]+\/[\w.+-]+)(?:;[\w.+-]+=[^;,]*)*;base64,/i;
/** No head of a data URL is longer. */
const MAX_HEAD_LENGTH = 256;

/** What an address stands for: the bytes in it, when it is a data URL of base64. Undefined when it is no address. */
export function sourceOf(url: string): Source | undefined {
  if (/^https?:\/\//i.test(url)) return { from: 'url', url };
  const [head, mediaType] = DATA_URL.exec(url.slice(0, MAX_HEAD_LENGTH)) ?? [];
  if (head === undefined || mediaType === undefined) return undefined;
  return { from: 'data', mediaType: mediaType.toLowerCase(), base64: url.slice(head.length) };
}

/** The address that stands for a source. */
export const urlOf = (source: Source): string =>
  source.from === 'url' ? source.url : `data:${source.mediaType};base64,${source.base64}`;

/** A document of plain text, below its name; empty for one that is none. */
export function textOfFile({ source, name }: FilePart): string {
  const text = source.from === 'text' ? source.text : '';
  return name === undefined ? text : `${name}\n${text}`;
}

/** An instruction in the midst of a conversation, for dialects that have a place in front of it alone: the user says it. */
export const reminder = (text: string): string => `<system-reminder>\n${text}\n</system-reminder>`;

/** Those that the upstream is not told of are looked for in every piece of its answer. */
const MAX_STOPS = 100;

/**
 * The texts that end an answer. An empty one stands everywhere, and so it means nothing.
 * @param path of the list in the client's request
 * @throws AppError invalid_request when there are too many
 */
export function stopSequences(texts: readonly string[], path: string): readonly string[] {
  if (texts.length > MAX_STOPS) throw malformed(path, `must have at most ${MAX_STOPS} sequences`);
  return texts.filter((text) => text !== '');
}

/** Budgets of thinking tokens up to which an effort is meant. */
const BUDGETS: readonly (readonly [limit: number, effort: Effort])[] = [
  [4096, 'low'],
  [16_384, 'medium'],
  [32_768, 'high'],
];

/** The effort that a budget of thinking tokens amounts to. */
export const effortOfBudget = (budget: number): Effort => BUDGETS.find(([limit]) => budget <= limit)?.[1] ?? 'xhigh';

/** The effort that a client wishes, for dialects that have no other word for it; undefined leaves it to the model. */
export function requestedEffort({ effort, budget, thinking }: ReasoningRequest): Effort | undefined {
  if (thinking === 'off') return 'none';
  return effort ?? (budget === undefined ? undefined : effortOfBudget(budget));
}

/**
 * What comes nearest to an effort among those that a model knows, lower ones first; undefined when there is nothing to
 * compare it with.
 */
export function nearestEffort(effort: Effort, known: readonly Effort[]): Effort | undefined {
  if (known.includes(effort)) return effort;
  const wished = rank(effort);
  if (wished === -1) return undefined;
  const ranked = known.filter((other) => rank(other) !== -1).toSorted((one, other) => rank(one) - rank(other));
  return ranked.findLast((other) => rank(other) < wished) ?? ranked[0];
}

const rank = (effort: Effort): number => (EFFORTS as readonly Effort[]).indexOf(effort);
