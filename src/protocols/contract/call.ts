import type { BodySize, CallBody } from './call-body.js';
import type { CallTrace } from './call-trace.js';
import type { JsonFields } from './json-fields.js';
import type { ProtocolId, RequestLine } from './request-line.js';
import type { RequestDemands } from './request-demands.js';

/** The efforts that dialects know, from the least on. */
export const EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const;

/** How hard a model is asked to think. A value that no dialect knows is kept as it was written. */
export type Effort = (typeof EFFORTS)[number] | (string & {});

/** Names by which dialects ask for the service that everybody gets, or leave it to the upstream: never dearer by themselves. */
export const DEFAULT_SERVICE_TIERS: readonly string[] = ['auto', 'default', 'standard', 'standard_only'];

/** What a prompt leans on that lies with the upstream or elsewhere: its size cannot be told by the body. */
export interface OutsideContent {
  /** The response whose conversation it continues, when there is nothing else of the kind. */
  readonly previousResponseId: string | undefined;
}

/** What a body says of the calls that it belongs to; absent, what it does not say. Never more than a hint. */
export interface CallAffinity {
  /** Calls with the same one begin with the same prompt, or lie in the same place. */
  readonly cache?: string | undefined;
  /** Whoever, or whatever session, the client calls for. */
  readonly user?: string | undefined;
}

/** What is read from a body at once and cheaply; everything the engine needs to admit and route the call. */
export interface CallHead {
  readonly model: string;
  readonly stream: boolean;
  /** The client's limit of output tokens, each answer; undefined when it set none. */
  readonly outputLimit: number | undefined;
  /** Answers asked for (`n`); 1 in dialects that know only one. */
  readonly answers: number;
  readonly effort: Effort | undefined;
  /** The service tier that is asked for, as written; absent when the client leaves it open. */
  readonly serviceTier?: string | undefined;
  /** `none`: nothing of the prompt is written to a cache; absent: the upstream may do so unasked. */
  readonly cacheLifetime?: 'none' | undefined;
  /** Whether the client wants its answer kept; absent when it leaves that to the dialect. */
  readonly store?: boolean | undefined;
  /** There when the body says something of the kind. */
  readonly affinity?: CallAffinity | undefined;
  /** There when the prompt is more than the body. */
  readonly outside?: OutsideContent | undefined;
  /** There when members of the body change the price, name models or tools, or reach state kept upstream. */
  readonly demands?: RequestDemands | undefined;
  readonly size: BodySize;
  /** Where the interpreted members lie in the body, by path, for surgical edits by the same dialect. */
  readonly fields: JsonFields;
}

/** One request for a model's answer. Immutable: what happens to it is kept by whoever makes it happen. */
export interface Call {
  /** `req_…`; also the id of its row. The time inside it is when the call arrived. */
  readonly id: string;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
  readonly protocol: ProtocolId;
  readonly request: RequestLine;
  readonly ip: string;
  readonly head: CallHead;
  readonly body: CallBody;
  /** The trace that it is part of; absent when nobody traces it. */
  readonly trace?: CallTrace | undefined;
}

/**
 * What one call used, as its upstream reports it: tokens, and what else is charged by. Totals include their parts,
 * whatever the upstream's dialect says. What most calls do not have is absent.
 */
export interface TokenUsage {
  /** All prompt tokens, read from cache and written to cache included. */
  readonly input: number;
  readonly cacheRead: number;
  /** Written to a cache of the usual, short lifetime. */
  readonly cacheWrite: number;
  /** Written to a cache of one hour. */
  readonly cacheWrite1h: number;
  /** All completion tokens, reasoning included. */
  readonly output: number;
  readonly reasoning: number;
  /** Written to a cache of 12 hours. */
  readonly cacheWrite12h?: number;
  /** Parts of the input. */
  readonly imageInput?: number;
  readonly audioInput?: number;
  /** Part of the output. */
  readonly audioOutput?: number;
  /** How often each tool ran that the upstream itself runs, by the tool's name: `web_search`. */
  readonly toolUses?: Readonly<Record<string, number>>;
  /** Tokens of images that a hosted tool generated. In neither total: a model of their own reads and writes them. */
  readonly imageGeneration?: ImageGenerationUsage;
  /** The service tier that the answer was given in, by the upstream's name for it. */
  readonly serviceTier?: string;
  /** The speed and the region of inference that the upstream reports, by its names for them. */
  readonly speed?: string;
  readonly geo?: string;
  /** The model that the totals are of, as the upstream names it; absent: the one that was asked for. */
  readonly servedBy?: string;
  /** Work that the totals do not include: compaction, an advisor, attempts of other models. */
  readonly passes?: readonly UsagePass[];
  /** By which a later call can refer to this answer. */
  readonly answerId?: string;
  /** There when a total was not reported as a count. */
  readonly irregular?: IrregularTotals;
}

/**
 * What an upstream wrote in place of a total, as JSON (`-5`, `"130"`), empty where it left the total out. The total is 0
 * then, or what can be said without it; only a count in a string is taken as that count.
 */
export interface IrregularTotals {
  readonly input?: string;
  readonly output?: string;
}

/** What a hosted image tool used over all of its runs. */
export interface ImageGenerationUsage {
  readonly textInput: number;
  readonly imageInput: number;
  readonly textOutput: number;
  readonly imageOutput: number;
}

/** One pass of inference beside the reported totals, charged at the price of its own model. */
export interface UsagePass {
  /** As the upstream names it; undefined: the model of the call. */
  readonly model: string | undefined;
  readonly usage: TokenUsage;
}

/** Nothing used; also what a usage that knows only some counts begins with: `{ ...NO_TOKENS, input: 9 }`. */
export const NO_TOKENS: TokenUsage = {
  input: 0,
  cacheRead: 0,
  cacheWrite: 0,
  cacheWrite1h: 0,
  output: 0,
  reasoning: 0,
};
