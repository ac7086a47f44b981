import { type Effort, EFFORTS } from '../request-demands.js';
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
import { malformed } from './json-tree.js';
import type { TranslationWarnings } from './warnings.js';

interface BuiltTurn extends Turn {
  readonly parts: Part[];
}

/** Builds a conversation with alternating roles. */
export class ConversationBuilder {
  readonly lead: TextPart[] = [];
  private readonly built: BuiltTurn[] = [];

  get turns(): readonly Turn[] {
    return this.built;
  }

  /** Added to the lead before the conversation, otherwise a turn of its own. Empty texts are dropped. */
  addInstruction(text: string, cache?: CacheMark): void {
    if (text === '') return;
    const part: TextPart = { kind: 'text', text, ...(cache !== undefined && { cache }) };
    if (this.built.length === 0) this.lead.push(part);
    else this.built.push({ role: 'system', parts: [part] });
  }

  /** Merged into the previous turn of the same role. Empty texts are dropped. */
  addTurn(role: 'user' | 'assistant', parts: readonly Part[]): void {
    const content = parts.filter((part) => part.kind !== 'text' || part.text !== '');
    if (content.length > 0) join(this.built, { role, parts: content });
  }
}

function join(built: BuiltTurn[], { role, parts }: Turn): void {
  const last = built.at(-1);
  if (last?.role !== role || role === 'system') built.push({ role, parts: [...parts] });
  // Too many for spread arguments.
  else for (const part of parts) last.parts.push(part);
}

/**
 * Turns as every upstream requires them: results directly follow their calls, all calls of an answered turn have one,
 * and no result lacks its call.
 * @throws AppError when the key is strict and something had to be invented or converted to text
 */
export function pairResults(turns: readonly Turn[], warnings: TranslationWarnings): readonly Turn[] {
  const { resultOf, orphans } = match(turns);
  const built: BuiltTurn[] = [];
  turns.forEach((turn, index) => {
    const parts = turn.parts.flatMap((part): Part[] => {
      if (part.kind !== 'tool-result') return [part];
      return orphans.has(part) ? [...textsOf(part, warnings)] : [];
    });
    if (parts.length > 0) join(built, { ...turn, parts });
    if (turn.role !== 'assistant') return;
    const isLast = index === turns.length - 1;
    const results = callsOf(turn).flatMap((call) => {
      const result = resultOf.get(call);
      return result !== undefined ? [result] : isLast ? [] : [noResult(call, warnings)];
    });
    if (results.length > 0) join(built, { role: 'user', parts: results });
  });
  return built;
}

/** Matches results with calls: IDs may repeat in long conversations. */
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

function noResult({ id, isFreeform }: ToolCallPart, warnings: TranslationWarnings): ToolResultPart {
  warnings.warn('tool_result_missing', 'messages');
  return { kind: 'tool-result', id, parts: [{ kind: 'text', text: '[no result]' }], isError: true, isFreeform };
}

function textsOf({ id, parts }: ToolResultPart, warnings: TranslationWarnings): readonly Part[] {
  warnings.warn('tool_result_without_call', 'messages');
  return [{ kind: 'text', text: `Result of the tool call ${id}:` }, ...parts];
}

const ERROR = 'Error: ';

/** A failed result for protocols that only have text for it. */
export function withErrorText({ parts, isError }: ToolResultPart): ToolResultPart['parts'] {
  if (!isError) return parts;
  const [first, ...others] = parts;
  if (first?.kind !== 'text') return [{ kind: 'text', text: ERROR.trimEnd() }, ...parts];
  return first.text.startsWith(ERROR) ? parts : [{ ...first, text: ERROR + first.text }, ...others];
}

const DATA_URL = /^data:([\w.+-]+\/[\w.+-]+)(?:;[\w.+-]+=[^;,]*)*;base64,/i;
/** Longer than any data URL's head. */
const MAX_HEAD_LENGTH = 256;

/** Data for base64 data URLs; undefined if it is not a URL. */
export function sourceOf(url: string): Source | undefined {
  if (/^https?:\/\//i.test(url)) return { from: 'url', url };
  const [head, mediaType] = DATA_URL.exec(url.slice(0, MAX_HEAD_LENGTH)) ?? [];
  if (head === undefined || mediaType === undefined) return undefined;
  return { from: 'data', mediaType: mediaType.toLowerCase(), base64: url.slice(head.length) };
}

export const urlOf = (source: Source): string =>
  source.from === 'url' ? source.url : `data:${source.mediaType};base64,${source.base64}`;

/** A plain text document with its name. */
export function textOfFile({ source, name }: FilePart): string {
  const text = source.from === 'text' ? source.text : '';
  return name === undefined ? text : `${name}\n${text}`;
}

/** For protocols that only allow instructions before the conversation. */
export const reminder = (text: string): string => `<system-reminder>\n${text}\n</system-reminder>`;

export const asReminder = (part: Part): Part => (part.kind === 'text' ? { ...part, text: reminder(part.text) } : part);

/** Sampling parameters without effect. */
export const NEUTRAL_SAMPLING: Readonly<Record<string, number>> = {
  temperature: 1,
  top_p: 1,
  presence_penalty: 0,
  frequency_penalty: 0,
};

/** Stop sequences not sent upstream are searched in every chunk. */
const MAX_STOPS = 100;

/**
 * Drops empty sequences, which would match everywhere.
 * @param path in the client's request
 * @throws AppError invalid_request when there are too many
 */
export function stopSequences(texts: readonly string[], path: string): readonly string[] {
  if (texts.length > MAX_STOPS) throw malformed(path, `must have at most ${MAX_STOPS} sequences`);
  return texts.filter((text) => text !== '');
}

/** Efforts by their max reasoning budget. */
const BUDGETS: readonly (readonly [limit: number, effort: Effort])[] = [
  [4096, 'low'],
  [16_384, 'medium'],
  [32_768, 'high'],
];

export const effortOfBudget = (budget: number): Effort => BUDGETS.find(([limit]) => budget <= limit)?.[1] ?? 'xhigh';

/** The requested effort, for protocols without other settings; undefined: the model's default. */
export function requestedEffort({ effort, budget, thinking }: ReasoningRequest): Effort | undefined {
  if (thinking === 'off') return 'none';
  return effort ?? (budget === undefined ? undefined : effortOfBudget(budget));
}

/** Preferring lower ones; undefined if not comparable. */
export function nearestEffort(effort: Effort, known: readonly Effort[]): Effort | undefined {
  if (known.includes(effort)) return effort;
  const requested = rank(effort);
  if (requested === -1) return undefined;
  const ranked = known.filter((other) => rank(other) !== -1).toSorted((one, other) => rank(one) - rank(other));
  return ranked.findLast((other) => rank(other) < requested) ?? ranked[0];
}

const rank = (effort: Effort): number => (EFFORTS as readonly Effort[]).indexOf(effort);
