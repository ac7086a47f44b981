import type { IncomingHttpHeaders } from 'node:http';
import type { JsonObject } from '../../platform/shared/index.js';
import type { BodySize, CallBody } from './call-body.js';
import type { WaitRecords } from './flow.js';
import type { JsonFields } from './json-fields.js';
import type { CreatedState, Effort, RequestDemands } from './request-demands.js';

const MAX_TOKENS = 10_000_000_000;

/** Some servers write counts as strings. */
const COUNT_IN_STRING = /^\d{1,11}$/;

/** Undefined if absent or invalid. */
export function countIn(parent: JsonObject | undefined, name: string): number | undefined {
  const value = parent?.[name];
  if (typeof value === 'number') return Number.isInteger(value) && isInRange(value) ? value : undefined;
  if (typeof value !== 'string' || !COUNT_IN_STRING.test(value)) return undefined;
  const count = Number(value);
  return isInRange(count) ? count : undefined;
}

const isInRange = (value: number): boolean => value >= 0 && value <= MAX_TOKENS;

/** Enough to recognize what was written instead of a count. */
const MAX_WRITTEN_CHARACTERS = 40;

export function irregularIn(
  usage: JsonObject | undefined,
  names: { readonly input: string; readonly output: string },
): Pick<TokenUsage, 'irregular'> {
  const input = written(usage?.[names.input]);
  const output = written(usage?.[names.output]);
  if (input === undefined && output === undefined) return {};
  return { irregular: { ...(input !== undefined && { input }), ...(output !== undefined && { output }) } };
}

/** Undefined for a count. */
function written(value: unknown): string | undefined {
  if (typeof value === 'number' && Number.isInteger(value) && isInRange(value)) return undefined;
  return value === undefined || value === null ? '' : JSON.stringify(value).slice(0, MAX_WRITTEN_CHARACTERS);
}

export function isCountInString(text: string): boolean {
  const inner = text.slice(1, -1);
  return text.startsWith('"') && COUNT_IN_STRING.test(inner) && isInRange(Number(inner));
}

export const hasAny = (usage: JsonObject | undefined, ...names: readonly string[]): boolean =>
  names.some((name) => usage?.[name] !== undefined && usage[name] !== null);

const MAX_NAME_LENGTH = 64;
/** Including vendor prefix and release. */
const MAX_MODEL_LENGTH = 256;

export const tierIn = (serviceTier: unknown): Pick<TokenUsage, 'serviceTier'> =>
  typeof serviceTier === 'string' && serviceTier !== '' && serviceTier.length <= MAX_NAME_LENGTH ? { serviceTier } : {};

export function placeIn(usage: JsonObject): Pick<TokenUsage, 'speed' | 'geo'> {
  const speed = nameOf(usage['speed']);
  const geo = nameOf(usage['inference_geo']);
  return { ...(speed !== undefined && { speed }), ...(geo !== undefined && { geo }) };
}

export const modelIn = (reported: unknown): string | undefined => nameOf(reported, MAX_MODEL_LENGTH);

/** Only if the request allows several models. */
export function servedByIn({ demands }: CallHead, model: unknown): Pick<TokenUsage, 'servedBy'> {
  if (demands?.models.some(({ role }) => role === 'alternative') !== true) return {};
  const servedBy = modelIn(model);
  return servedBy === undefined ? {} : { servedBy };
}

const nameOf = (value: unknown, maxLength = MAX_NAME_LENGTH): string | undefined =>
  typeof value === 'string' && value !== '' && value.length <= maxLength ? value : undefined;

export const cacheWrites = ({ cacheWrite, cacheWrite1h, cacheWrite12h = 0 }: TokenUsage): number =>
  cacheWrite + cacheWrite1h + cacheWrite12h;

const addOptional = (one: number | undefined, other: number | undefined): number | undefined =>
  one === undefined ? other : one + (other ?? 0);

/** Members other than counts are the first one's. */
export function addUsage(one: TokenUsage, other: TokenUsage): TokenUsage {
  const cacheWrite12h = addOptional(one.cacheWrite12h, other.cacheWrite12h);
  return {
    ...one,
    input: one.input + other.input,
    cacheRead: one.cacheRead + other.cacheRead,
    cacheWrite: one.cacheWrite + other.cacheWrite,
    cacheWrite1h: one.cacheWrite1h + other.cacheWrite1h,
    output: one.output + other.output,
    reasoning: one.reasoning + other.reasoning,
    ...(cacheWrite12h !== undefined && { cacheWrite12h }),
  };
}

/** Totals including passes: for rows, and for protocols without passes. */
export function withPasses({ passes = [], ...usage }: TokenUsage): TokenUsage {
  return passes.reduce((sum, pass) => addUsage(sum, pass.usage), usage);
}

/** Adds parts that are larger than their total: these were reported separately. */
export function withParts(usage: TokenUsage): TokenUsage {
  const cached = usage.cacheRead + cacheWrites(usage);
  return {
    ...usage,
    input: cached > usage.input ? usage.input + cached : usage.input,
    output: usage.reasoning > usage.output ? usage.output + usage.reasoning : usage.output,
  };
}

/** Names for the default tier, or for leaving it to the upstream: never more expensive by themselves. */
export const DEFAULT_SERVICE_TIERS: readonly string[] = ['auto', 'default', 'standard', 'standard_only'];

/** Content of a prompt outside the body: its size is unknown. */
export interface OutsideContent {
  /** Set if a continued response is the only outside content. */
  readonly previousResponseId: string | undefined;
}

/** Hints about related calls. */
export interface CallAffinity {
  /** Calls with the same value share a prompt prefix or a cache location. */
  readonly cache?: string | undefined;
  /** The client's user or session. */
  readonly user?: string | undefined;
}

/** Everything needed to admit and route the call, read from the body in one pass. */
export interface CallHead {
  readonly model: string;
  readonly stream: boolean;
  /** Max output tokens per choice; undefined: no limit. */
  readonly outputLimit: number | undefined;
  /** Number of choices (`n`); 1 in protocols without it. */
  readonly choices: number;
  /** The last one of the request. */
  readonly effort: Effort | undefined;
  /** Those that it replaces within the prompt, and undefined for the default; the most expensive is charged. */
  readonly otherEfforts?: readonly (Effort | undefined)[] | undefined;
  /** Requested service tier as written; absent: the upstream chooses. */
  readonly serviceTier?: string | undefined;
  /** `none`: nothing is written to a cache; `1h`: outside content may be; absent: the upstream decides. */
  readonly cacheLifetime?: 'none' | '1h' | undefined;
  /** Whether to store the response; absent: the protocol's default. */
  readonly store?: boolean | undefined;
  /** The response outlives the client's connection, and is streamed upstream. */
  readonly background?: boolean | undefined;
  /** Whether the conversation is to be compacted, now or when it is long. */
  readonly compacts?: boolean | undefined;
  readonly affinity?: CallAffinity | undefined;
  /** Set if the prompt has content outside the body. */
  readonly outside?: OutsideContent | undefined;
  /** Set if members affect the price, name models or tools, or refer to upstream state. */
  readonly demands?: RequestDemands | undefined;
  readonly size: BodySize;
  /** Positions of interpreted members by path, for edits of verbatim requests. */
  readonly fields: JsonFields;
}

/** How a request and its response travel. */
export type Transport = 'http' | 'websocket';

/** One request for a model response. Immutable. */
export interface Call {
  /** `req_…`, also the ID of its row. Contains the time of arrival. */
  readonly id: string;
  readonly createdAt: number;
  readonly protocol: ProtocolId;
  readonly request: RequestLine;
  readonly transport: Transport;
  readonly ip: string;
  readonly head: CallHead;
  readonly body: CallBody;
  /** Absent without tracing. */
  readonly trace?: CallTrace | undefined;
}

/** Usage as reported. Totals include their parts in every protocol. */
export interface TokenUsage {
  /** All prompt tokens, including cache reads and writes. */
  readonly input: number;
  readonly cacheRead: number;
  /** Written to a cache with the default, short lifetime. */
  readonly cacheWrite: number;
  /** Written to a cache for one hour. */
  readonly cacheWrite1h: number;
  /** All completion tokens, including reasoning. */
  readonly output: number;
  readonly reasoning: number;
  /** Written to a cache for 12 hours. */
  readonly cacheWrite12h?: number;
  /** Part of the input. */
  readonly imageInput?: number;
  readonly audioInput?: number;
  /** Part of the output. */
  readonly audioOutput?: number;
  /** Uses of hosted tools by name: `web_search`. */
  readonly toolUses?: Readonly<Record<string, number>>;
  /** Tokens of images generated by a hosted tool. In neither total: a separate model processes them. */
  readonly imageGeneration?: ImageGenerationUsage;
  /** Service tier of the response, by the upstream's name. */
  readonly serviceTier?: string;
  /** Reported speed and inference region, by the upstream's names. */
  readonly speed?: string;
  readonly geo?: string;
  /** Model of the totals, by the upstream's name; absent: the requested one. */
  readonly servedBy?: string;
  /** Model runs not included in the totals: compaction, advisors, other models. */
  readonly passes?: readonly UsagePass[];
  /** By which a later call can refer to this response. */
  readonly responseId?: string;
  /** Set if a total was not reported as a count. */
  readonly irregular?: IrregularTotals;
}

/**
 * Reported values that are not counts, as JSON (`-5`, `"130"`); empty if missing. The total is then 0 or derived; a
 * count in a string is accepted.
 */
export interface IrregularTotals {
  readonly input?: string;
  readonly output?: string;
}

/** Usage of a hosted image tool over all of its runs. */
export interface ImageGenerationUsage {
  readonly textInput: number;
  readonly imageInput: number;
  readonly textOutput: number;
  readonly imageOutput: number;
}

/** A model run beside the totals, charged at the prices of its model. */
export interface UsagePass {
  /** By the upstream's name; undefined: the model of the call. */
  readonly model: string | undefined;
  readonly usage: TokenUsage;
}

/** Also a base for partial usages: `{ ...NO_TOKENS, input: 9 }`. */
export const NO_TOKENS: TokenUsage = {
  input: 0,
  cacheRead: 0,
  cacheWrite: 0,
  cacheWrite1h: 0,
  output: 0,
  reasoning: 0,
};

/** The trace of a call: the client's, or a new one. */
export interface CallTrace {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /**
   * Records an upstream request. Returns the headers that continue the trace.
   * @param ordinal attempt number, from 1
   */
  attempt(ordinal: number, upstream: TracedUpstream): Readonly<Record<string, string>>;
  /** Ends the call; later calls have no effect. */
  end(call: EndedCall): void;
}

export interface TracedUpstream {
  readonly baseUrl: string;
  /** As `UpstreamAdapter.provider`. */
  readonly provider: string;
}

/** The content of a trace: numbers and configured names, never user input. */
export interface EndedCall {
  readonly requestId: string;
  readonly protocol: ProtocolId;
  /** Undefined before admission, when it is user input. */
  readonly model: string | undefined;
  readonly group: string;
  readonly stream: boolean;
  /** As in the usage log. */
  readonly status: string;
  readonly error: string | undefined;
  /** Ms since arrival. */
  readonly firstTokenMs: number | undefined;
  readonly usage: EndedUsage | undefined;
  readonly attempts: readonly EndedAttempt[];
  /** Ms from its end until it was recorded; undefined if that failed. */
  readonly settledMs: number | undefined;
  /** Ms until the hold was placed or rejected; undefined without a hold. */
  readonly holdMs: number | undefined;
  readonly waits: WaitRecords;
}

export interface EndedUsage {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  readonly reasoning: number;
}

/** An upstream request. Times in ms since its start. */
export interface EndedAttempt {
  readonly ordinal: number;
  readonly channel: string;
  readonly protocol: ProtocolId;
  readonly model: string;
  readonly httpStatus: number | undefined;
  /** `succeeded`, `cancelled`, or the kind of error. */
  readonly outcome: string;
  readonly firstTokenMs: number | undefined;
  readonly durationMs: number;
}

/** Reported usage. Provisional: reported before the response, with the prompt only. */
interface UsageReport {
  readonly type: 'usage';
  readonly usage: TokenUsage;
  readonly isProvisional?: boolean;
}

/** Signals of a response to the engine. Usage is cumulative: each report replaces the previous one. */
export type CallSignal =
  /** First content of this frame: text, reasoning, a tool call. Everything before is prelude. */
  | { readonly type: 'content' }
  /**
   * Estimated output tokens, fractional; with their text if it can be counted later, and the index of interleaved
   * texts.
   */
  | { readonly type: 'output'; readonly units: number; readonly text?: string; readonly lane?: number }
  | UsageReport
  /** State created by the upstream; does not affect the price. */
  | { readonly type: 'state'; readonly created: readonly CreatedState[] }
  /** A complete response in the client's protocol, whose output can be counted. */
  | { readonly type: 'whole'; readonly bytes: Uint8Array };

export const isFinalReport = (signal: CallSignal): boolean => signal.type === 'usage' && !signal.isProvisional;

/** A piece of the response with its signals. */
export interface Frame {
  readonly bytes: Uint8Array;
  readonly signals: readonly CallSignal[];
  /** Ends the response; held back until the call is settled. */
  readonly last: boolean;
}

/** A request before its body is read. */
export interface RequestLine {
  readonly method: string;
  /** Canonical path (`/v1/messages`), without the query. */
  readonly path: string;
  /** Raw query without the question mark. */
  readonly query: string;
  readonly headers: IncomingHttpHeaders;
}

/** The header if it was sent exactly once; undefined otherwise. */
export function headerOf(request: RequestLine, name: string): string | undefined {
  const value = request.headers[name];
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** ID of a registered adapter: `responses`, `chat-completions`, `messages` and others. */
export type ProtocolId = string;
