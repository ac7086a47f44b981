import { AppError, isJsonObject, type JsonObject } from '../../platform/shared/index.js';
import {
  type Annotation,
  type CallContent,
  type CallEvent,
  classifyGoogleInnerError,
  countIn,
  irregularIn,
  type IrregularTotals,
  objectIn,
  type StopReason,
  type TokenUsage,
  truncatedStream,
  type UpstreamTarget,
  withParts,
} from '../contract/index.js';
import { ResponseParts } from './decoded-parts.js';

/** Reads one `GenerateContentResponse`, or the pieces of a stream. */
export class GeminiResponseReader {
  readonly #parts: ResponseParts;
  /** After the stop only the final usage is awaited. */
  #stage: 'new' | 'open' | 'stopped' | 'over' = 'new';
  #searches = 0;
  /** Cited URLs, which pieces may repeat. */
  readonly #named = new Set<string>();
  /** Sources for a text that has not begun. */
  readonly #uncited: Annotation[] = [];

  constructor(content: CallContent, target: UpstreamTarget) {
    this.#parts = new ResponseParts(content, target.family);
  }

  /** @throws AppError when it is an error or has no candidate */
  next(response: JsonObject): CallEvent[] {
    if (this.#stage === 'over') return [];
    if (response['error']) throw classifyGoogleInnerError(response);
    const begun: CallEvent[] = this.#stage === 'new' ? [{ type: 'call-start' }] : [];
    if (this.#stage === 'new') this.#stage = 'open';
    const events = this.#stage === 'open' ? this.#candidate(response) : [];
    const reported = reportIn(response);
    const isOver = this.#stage === 'stopped' && reportsOutput(reported);
    return [...begun, ...events, ...this.#report(reported), ...(isOver ? this.end() : [])];
  }

  /** Complete even without a finish reason. @throws AppError when it is not a response */
  whole(response: JsonObject): CallEvent[] {
    const events = this.next(response);
    if (this.#stage !== 'open') return [...events, ...this.end()];
    if (candidateIn(response) === undefined) {
      throw new AppError('upstream_error', 'The upstream response has the format of another protocol.', {
        failover: true,
      });
    }
    return [...events, ...this.#stop('STOP'), ...this.end()];
  }

  /** @throws AppError upstream_truncated when the response is incomplete */
  end(): CallEvent[] {
    if (this.#stage === 'over') return [];
    if (this.#stage !== 'stopped') throw truncatedStream();
    this.#stage = 'over';
    return [{ type: 'call-end' }];
  }

  #candidate(response: JsonObject): CallEvent[] {
    const candidate = candidateIn(response);
    if (candidate === undefined) {
      const { blockReason } = objectIn(response, 'promptFeedback');
      return typeof blockReason === 'string' ? this.#stop('SAFETY') : [];
    }
    const events = this.#partsOf(candidate);
    const finish = finishIn(candidate['finishReason']);
    return finish === undefined ? events : [...events, ...this.#stop(finish)];
  }

  /** Sources belong to the preceding text, which a signature in the same piece may end. */
  #partsOf(candidate: JsonObject): CallEvent[] {
    const { searches, sources } = groundingIn(candidate);
    this.#searches = Math.max(this.#searches, searches);
    for (const source of sources) {
      if (!this.#named.has(source.url)) this.#uncited.push(source);
      this.#named.add(source.url);
    }
    const { parts } = objectIn(candidate, 'content');
    const events = (Array.isArray(parts) ? (parts as unknown[]) : []).flatMap((part) => {
      this.#cite();
      return isJsonObject(part) ? this.#parts.next(part) : [];
    });
    this.#cite();
    return events;
  }

  #cite(): void {
    if (this.#parts.cite(this.#uncited)) this.#uncited.length = 0;
  }

  #stop(finish: string): CallEvent[] {
    const reason = stopReason(finish, this.#parts.hasCalls);
    this.#stage = 'stopped';
    return [...this.#parts.finish(), { type: 'call-stop', reason }];
  }

  /** Each piece reports cumulative usage, initially without output. */
  #report(reported: JsonObject): CallEvent[] {
    const usage = usageIn(reported);
    if (usage === undefined) return [];
    const isNone = this.#stage === 'stopped' && this.#parts.isEmpty;
    const isProvisional = !isNone && !reportsOutput(reported);
    const searched = this.#searches > 0 && { toolUses: { web_search: this.#searches } };
    return [{ type: 'usage-update', usage: { ...usage, ...searched }, ...(isProvisional && { isProvisional }) }];
  }
}

/** Only one candidate is requested. */
function candidateIn({ candidates }: JsonObject): JsonObject | undefined {
  const [first] = Array.isArray(candidates) ? (candidates as unknown[]) : [];
  return isJsonObject(first) ? first : undefined;
}

// https://ai.google.dev/api/generate-content#FinishReason

const STOPS: ReadonlyMap<string, StopReason> = new Map([
  ['MAX_TOKENS', 'max_tokens'],
  ['SAFETY', 'content_filter'],
  ['RECITATION', 'content_filter'],
  ['BLOCKLIST', 'content_filter'],
  ['PROHIBITED_CONTENT', 'content_filter'],
  ['SPII', 'content_filter'],
  ['MODEL_ARMOR', 'content_filter'],
  ['IMAGE_SAFETY', 'content_filter'],
  ['IMAGE_PROHIBITED_CONTENT', 'content_filter'],
  ['IMAGE_RECITATION', 'content_filter'],
  ['IMAGE_OTHER', 'content_filter'],
]);

/**
 * Unusable output was discarded. Errors, since clients would take the incomplete response as final, while a retry
 * usually succeeds.
 */
const INVALID_FINISHES: readonly string[] = [
  'MALFORMED_FUNCTION_CALL',
  'UNEXPECTED_TOOL_CALL',
  'TOO_MANY_TOOL_CALLS',
  'MALFORMED_RESPONSE',
  'MISSING_THOUGHT_SIGNATURE',
];

const UNSPECIFIED = 'FINISH_REASON_UNSPECIFIED';

/** Undefined while the response continues. */
export const finishIn = (finishReason: unknown): string | undefined =>
  typeof finishReason === 'string' && finishReason !== '' && finishReason !== UNSPECIFIED ? finishReason : undefined;

/**
 * Unknown reasons are normal ends.
 * @throws AppError upstream_error when there is no response
 */
function stopReason(finish: string, hasCalls: boolean): StopReason {
  if (INVALID_FINISHES.includes(finish)) {
    const message = `The upstream model produced an invalid response (${finish}).`;
    throw new AppError('upstream_error', message, { failover: true });
  }
  // The protocol has no reason for tool calls.
  return STOPS.get(finish) ?? (hasCalls ? 'tool_calls' : 'end');
}

interface Grounding {
  readonly searches: number;
  readonly sources: readonly Annotation[];
}

/** Web search of a candidate; empty without one. */
function groundingIn(candidate: JsonObject): Grounding {
  const metadata = objectIn(candidate, 'groundingMetadata');
  const sources = listIn(metadata, 'groundingChunks').flatMap((chunk) => sourceIn(chunk));
  return { searches: searchesIn(candidate), sources };
}

export const searchesIn = (candidate: JsonObject): number =>
  listIn(objectIn(candidate, 'groundingMetadata'), 'webSearchQueries').length;

function sourceIn(chunk: unknown): readonly Annotation[] {
  if (!isJsonObject(chunk)) return [];
  const { uri, title } = objectIn(chunk, 'web');
  if (typeof uri !== 'string' || uri === '') return [];
  return [{ url: uri, title: typeof title === 'string' ? title : '' }];
}

function listIn(object: JsonObject, name: string): readonly unknown[] {
  const list = object[name];
  return Array.isArray(list) ? (list as readonly unknown[]) : [];
}

/** The default tier; others are not requested and so must not be charged. */
const DEFAULT_TIER = 'standard';

/**
 * Undefined if empty. The prompt includes cached tokens and hosted tools' input; candidates exclude reasoning, which is
 * charged as output.
 */
export function usageIn(reported: JsonObject): TokenUsage | undefined {
  const prompt = countIn(reported, 'promptTokenCount');
  const total = countIn(reported, 'totalTokenCount');
  const reasoning = countIn(reported, 'thoughtsTokenCount') ?? 0;
  const candidateTokens = countIn(reported, 'candidatesTokenCount');
  // The prompt's share of a total is unknown.
  if ((prompt ?? candidateTokens) === undefined) return undefined;
  const input = (prompt ?? 0) + (countIn(reported, 'toolUsePromptTokenCount') ?? 0);
  const responseTokens = candidateTokens ?? Math.max(0, (total ?? 0) - input - reasoning);
  return withParts({
    input,
    cacheRead: countIn(reported, 'cachedContentTokenCount') ?? 0,
    cacheWrite: 0,
    cacheWrite1h: 0,
    output: responseTokens + reasoning,
    reasoning,
    ...mediaCounts(reported),
    ...irregular(reported, responseTokens + reasoning > 0),
    serviceTier: DEFAULT_TIER,
  });
}

const TOTALS = { input: 'promptTokenCount', output: 'candidatesTokenCount' };

/** Zeros are omitted in this protocol, so missing output is fine if other counts are present. */
function irregular(reported: JsonObject, isOutputKnown: boolean): { readonly irregular?: IrregularTotals } {
  const { input, output } = irregularIn(reported, TOTALS).irregular ?? {};
  const isOutputIrregular = output !== undefined && output !== '' && !isOutputKnown;
  if (input === undefined && !isOutputIrregular) return {};
  return { irregular: { ...(input !== undefined && { input }), ...(isOutputIrregular && { output }) } };
}

export const reportsOutput = (reported: JsonObject): boolean =>
  countIn(reported, 'candidatesTokenCount') !== undefined || (usageIn(reported)?.output ?? 0) > 0;

function mediaCounts(reported: JsonObject): Pick<TokenUsage, 'imageInput' | 'audioInput' | 'audioOutput'> {
  const imageInput = tokensOf(reported, 'promptTokensDetails', 'IMAGE');
  const audioInput = tokensOf(reported, 'promptTokensDetails', 'AUDIO');
  const audioOutput = tokensOf(reported, 'candidatesTokensDetails', 'AUDIO');
  return {
    ...(imageInput > 0 && { imageInput }),
    ...(audioInput > 0 && { audioInput }),
    ...(audioOutput > 0 && { audioOutput }),
  };
}

/** `[{ modality: 'TEXT', tokenCount: 9 }, …]` */
function tokensOf(reported: JsonObject, member: string, modality: string): number {
  const details = reported[member];
  if (!Array.isArray(details)) return 0;
  const counts = (details as unknown[]).map((detail) =>
    isJsonObject(detail) && detail['modality'] === modality ? (countIn(detail, 'tokenCount') ?? 0) : 0,
  );
  return counts.reduce((sum, count) => sum + count, 0);
}

const reportIn = (response: JsonObject): JsonObject => objectIn(response, 'usageMetadata');
