import type { AppError } from '../../platform/shared/index.js';
import type { Call, CallSignal, ProtocolId } from './call.js';
import type { SseEvent } from './sse.js';
import type { CallContent } from './translation/content.js';
import type { CallEvent, CallResult } from './translation/events.js';
import type { TranslationWarnings } from './translation/warnings.js';
import type { ModelListing } from './model-listing.js';
import type { UpstreamRequest, UpstreamTarget } from './upstream-request.js';

export type UpstreamHeaders = Readonly<Record<string, string | string[] | undefined>>;

/** A meter's findings in an event. */
export interface MeterReading {
  readonly signals: readonly CallSignal[];
  /** The event ends the response. */
  readonly last: boolean;
  /** Replaces the event's bytes; empty hides the event. */
  readonly replacement?: Uint8Array | string;
  /** The event only keeps the connection open, like a comment. */
  readonly keepsAlive?: true;
}

/** Inspects the events of a stream in order. */
export interface StreamMeter {
  /** @throws AppError when the event is the upstream's error */
  next(event: SseEvent): MeterReading;
  /** No further event is for the client. */
  readonly closed: boolean;
  /**
   * The upstream closed the stream without an event marked `last`.
   * @throws AppError upstream_truncated when the response is incomplete
   */
  end(): MeterReading;
  /** Upstream comments are not passed on. */
  readonly hidesComments?: boolean;
  /** The response is complete for the client only: abort the upstream. */
  readonly abandons?: boolean;
}

/** Calls in the upstream's own protocol: edited bytes, metered responses. Pure. */
export interface VerbatimLane {
  /**
   * The client's bytes with the model name and other required edits.
   * @throws AppError insufficient_quota when the affordable limit leaves no valid request
   */
  rewriteRequest(call: Call, target: UpstreamTarget): UpstreamRequest;
  meterStream(call: Call): StreamMeter;
  /**
   * Usage of a complete response; estimates output if unreported.
   * @throws AppError when the response is an error in disguise, or not a JSON object
   */
  meterResponse(call: Call, body: Uint8Array): readonly CallSignal[];
}

/**
 * WebSockets to an upstream: a call is one message, and each message of its response is an event of its stream. One
 * call at a time. Pure.
 */
export interface UpstreamSocketProtocol {
  /** As `rewriteRequest`: the headers are those of the handshake, the body is the message. */
  rewriteMessage(call: Call, target: UpstreamTarget): UpstreamRequest;
  read(message: Buffer): SocketReading;
}

export interface SocketReading {
  /** An event of a stream. */
  readonly event: Buffer;
  /** The response has ended. */
  readonly last: boolean;
  /** ID of an ended response, which the next call on the socket may continue. */
  readonly responseId: string | undefined;
  /** Status and headers if the message rejects the request; only valid for the first message. */
  readonly rejection: { readonly status: number; readonly headers: UpstreamHeaders } | undefined;
}

/** The upstream half of a protocol. Pure: no I/O, no clock, no IDs, no Nest. */
export interface UpstreamAdapter {
  readonly id: ProtocolId;
  /** OpenTelemetry provider name of the protocol: `openai`. Any vendor may serve it. */
  readonly provider: string;
  /** Default auth: `bearer` or a lower-case header name; channels may override it. */
  readonly defaultAuth: string;
  /** Absent if no client speaks this protocol or it is not implemented: calls are then translated. */
  readonly verbatim?: VerbatimLane;
  /** WebSockets for calls in the verbatim lane. Absent: HTTP only. */
  readonly socket?: UpstreamSocketProtocol;
  /**
   * Builds the request for a call of any protocol.
   * @throws AppError invalid_request naming the client's member that is not supported here; insufficient_quota when the
   * affordable limit leaves no valid request
   */
  buildRequest(context: BuildContext, target: UpstreamTarget): UpstreamRequest;
  /**
   * Decodes an unstreamed response.
   * @throws AppError when the response is an error in disguise, or not a JSON object
   */
  decodeResponse(body: string, content: CallContent, target: UpstreamTarget): CallResult;
  decodeStream(content: CallContent, target: UpstreamTarget): StreamDecoder;
  /** The minimal call, for probing channels. */
  probeRequest(model: string): UpstreamRequest;
  /** Lists an upstream's models; absent if the protocol cannot. */
  readonly modelListing?: ModelListing;
  /**
   * Classifies an upstream error. Messages are scrubbed of credentials, hosts and organization IDs.
   * @param body beginning of the body, parsed if JSON, else text
   */
  classifyError(status: number, headers: UpstreamHeaders, body: unknown): AppError;
}

export interface BuildContext {
  readonly call: Call;
  readonly content: CallContent;
  readonly warnings: TranslationWarnings;
}

/**
 * Decodes an upstream stream. A synchronous state machine without I/O, clock and randomness. Its output always obeys
 * the grammar of `CallEvent`.
 */
export interface StreamDecoder {
  /** @throws AppError when the event is the upstream's error or malformed */
  next(event: SseEvent): readonly CallEvent[];
  /**
   * The upstream closed the stream: the remaining events.
   * @throws AppError upstream_truncated when the response is incomplete
   */
  end(): readonly CallEvent[];
}
