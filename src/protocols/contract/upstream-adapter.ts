import type { AppError } from '../../platform/shared/index.js';
import type { Call } from './call.js';
import type { ProtocolId } from './request-line.js';
import type { ModelListing } from './model-listing.js';
import type { CallSignal } from './signals.js';
import type { SseEvent } from './sse-event.js';
import type { BuildContext, StreamDecoder } from './translation/adapter-contexts.js';
import type { CallContent } from './translation/content.js';
import type { CallResult } from './translation/events.js';
import type { UpstreamRequest } from './upstream-request.js';

/** Response headers of an upstream, names in lower case. */
export type UpstreamHeaders = Readonly<Record<string, string | string[] | undefined>>;

/** What an adapter must know of the channel that a call goes to. */
export interface UpstreamTarget {
  /** The upstream's own name of the model. */
  readonly model: string;
  /**
   * The output limit that the wallet or the key's quota, whichever holds less, can pay: tokens of each answer.
   * Undefined when the call goes up with its own bound.
   */
  readonly outputLimit: number | undefined;
  /** What this model can do at this upstream, as data: the model's capabilities under the channel's flags. */
  readonly flags: Readonly<Record<string, unknown>>;
  /** Whether the answer is to be streamed; the client may want it whole even so. */
  readonly stream: boolean;
  /** Tokens that the model can write at most, as the catalog says. */
  readonly maxOutputTokens: number;
  /** Whether the upstream may keep the answer; false when the client's key never stores. */
  readonly mayStore: boolean;
  /** The upstream's names of the other models that the request names, by what the client calls them; absent for none. */
  readonly namedModels?: ReadonlyMap<string, string> | undefined;
  /** Whose reasoning it can read: what another family has signed must not be sent to it. */
  readonly family: string;
}

/** What the meter found in one event. */
export interface MeterReading {
  readonly signals: readonly CallSignal[];
  /** The event is the one that ends the answer. */
  readonly last: boolean;
  /** What the client gets instead of the event's own bytes; empty when the event is not for the client. */
  readonly replacement?: Uint8Array | string;
  /** The event only keeps the connection open: like a comment, it begins no answer. */
  readonly keepsAlive?: true;
}

/** Looks into the events of one stream, in order, without changing them. */
export interface StreamMeter {
  /** @throws AppError when the event is the upstream's error */
  next(event: SseEvent): MeterReading;
  /** True when nothing that comes now is for the client: there is no use in waiting for it. */
  readonly closed: boolean;
  /**
   * The upstream has closed the stream without an event marked `last`: what its client still gets.
   * @throws AppError upstream_truncated when the answer is not complete
   */
  end(): MeterReading;
  /** Comments of the upstream are not for the client: its stream is another one. */
  readonly hidesComments?: boolean;
  /** The answer is over for its client alone, so that the upstream is to be left at once. */
  readonly abandons?: boolean;
}

/**
 * How calls pass whose clients speak the upstream's own dialect: their bytes, with what must change spliced in, and a
 * look into what comes back. Pure, as the adapter is.
 */
export interface VerbatimLane {
  /**
   * The client's bytes with the model's name, and what else must change, in their places.
   * @throws AppError insufficient_quota when the affordable limit leaves no valid request
   */
  rewriteRequest(call: Call, target: UpstreamTarget): UpstreamRequest;
  meterStream(call: Call): StreamMeter;
  /**
   * Reads the usage of a whole answer; counts its output, roughly, when it reports none.
   * @throws AppError when the answer is an error in disguise, or no JSON object
   */
  meterResponse(call: Call, body: Uint8Array): readonly CallSignal[];
}

/** The side that speaks to an upstream. Pure: no I/O, no clock, no ids, no Nest. */
export interface UpstreamAdapter {
  readonly id: ProtocolId;
  /**
   * Whose dialect it is, as OpenTelemetry names providers: `openai`. Who answers in it is the operator's business, and
   * may be anybody.
   */
  readonly provider: string;
  /**
   * Where an upstream of this dialect usually looks for the credential: `bearer`, or the name of a header in lower case.
   * A channel may say otherwise.
   */
  readonly usualAuth: string;
  /** Absent where no client speaks this dialect, or as long as nobody has written it: its calls are translated then. */
  readonly verbatim?: VerbatimLane;
  /**
   * The request for a call, of whichever dialect.
   * @throws AppError invalid_request naming the member of the client's request that has no counterpart here;
   * insufficient_quota when the affordable limit leaves no valid request
   */
  buildRequest(context: BuildContext, target: UpstreamTarget): UpstreamRequest;
  /**
   * Reads a whole answer.
   * @throws AppError when the answer is an error in disguise, or no JSON object
   */
  decodeResponse(body: string, content: CallContent, target: UpstreamTarget): CallResult;
  decodeStream(content: CallContent, target: UpstreamTarget): StreamDecoder;
  /** The smallest call this dialect knows, for an operator who asks whether a channel answers. */
  smallestRequest(model: string): UpstreamRequest;
  /** How an operator is told which models an upstream has. Absent where the dialect has no words for that. */
  readonly modelListing?: ModelListing;
  /**
   * What an upstream's refusal means here. The message is scrubbed: no credentials, hosts or organisation ids.
   * @param body the first part of the answer, parsed when it was JSON, else as text
   */
  classifyError(status: number, headers: UpstreamHeaders, body: unknown): AppError;
}
