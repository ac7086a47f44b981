import type { LimitStatuses } from '../../platform/limits/index.js';
import type { AppError, JsonObject } from '../../platform/shared/index.js';
import type { Call, ProtocolId, RequestLine } from './call.js';
import type { HeadReader } from './head-reader.js';
import type { SocketProtocol } from './socket-protocol.js';
import type { SseEvent } from './sse.js';
import type { CallContent, OpaqueReasoning } from './translation/content.js';
import type { CallEvent, CallResult } from './translation/events.js';
import type { JsonTree, TreeObject } from './translation/json-tree.js';
import type { TranslationWarnings } from './translation/warnings.js';
import type { UpstreamRequest } from './upstream-request.js';

export interface RenderedError {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: JsonObject;
}

/** A model in a list. */
export interface ListedModel {
  readonly id: string;
  readonly displayName: string;
  readonly ownedBy: string;
  /** Unix ms. */
  readonly createdAt: number;
  /** In tokens. */
  readonly contextWindow: number;
  readonly maxOutputTokens: number;
}

/** The received events of a stream before it failed, so that the error can follow them. */
export interface StreamTail {
  readonly first?: SseEvent | undefined;
  readonly last?: SseEvent | undefined;
}

/** The client half of a protocol. Pure: no I/O, no clock, no IDs, no Nest. Throws AppErrors. */
export interface ProtocolAdapter {
  readonly id: ProtocolId;
  /**
   * Canonical paths of calls: `/v1/messages`. `{model}` stands for the model, for protocols that name it there instead
   * of in the body: their head readers use `modelInPath`.
   */
  readonly callPaths: readonly string[];
  /** Path of its own model list; absent: `/v1/models`, which protocols share. */
  readonly modelsPath?: string;
  /** Token counting; absent if the protocol has none. */
  readonly tokenCounting?: TokenCountEndpoint;
  /** Client headers that affect the response, and are part of the fingerprint of an idempotent request. */
  readonly fingerprintHeaders: readonly string[];
  /** Whether this protocol renders errors for the request. */
  claims(request: RequestLine): boolean;
  /**
   * Reads the head of a call in one pass while its body arrives. Rejects duplicates of interpreted members, so that
   * byte reader and JSON parser see the same model.
   */
  headReader(request: RequestLine): HeadReader;
  /** Members whose objects are kept as text when parsed: schemas, arguments. */
  readonly rawMembers: ReadonlySet<string>;
  /** Where text is, for counting unreported usage. */
  readonly textPlaces: TextPlaces;
  /**
   * Normalizes a request for upstreams of other protocols.
   * @throws AppError invalid_request naming the member
   */
  parseRequest(request: TreeObject, context: ParseContext): CallContent;
  /** A complete response as JSON. */
  renderResponse(result: CallResult, context: RenderContext): string;
  renderStream(context: RenderContext): StreamRenderer;
  /** Streams begin with the prompt's tokens, so they are counted while the upstream is asked. */
  readonly startsWithPromptTokens?: boolean;
  readonly storage?: ResponseStorage;
  /** Calls over WebSockets. */
  readonly socket?: SocketProtocol;
  renderError(error: AppError, requestId: string): RenderedError;
  /** Headers with remaining limits; empty without limits. */
  renderLimits(statuses: LimitStatuses): Readonly<Record<string, string>>;
  /** The final bytes of a stream that failed after it began; never a normal end. */
  renderStreamError(call: Call, error: AppError, tail: StreamTail): Uint8Array;
  /** Keep-alive bytes; `begun`: an event of the response was written. */
  keepAlive(begun: boolean, request: RequestLine): Uint8Array;
  /** Media type of the streams that the request asks for; absent: always server-sent events. */
  streamType?(request: RequestLine): string;
  /** The list of models. @throws AppError invalid_request when paging parameters are invalid */
  renderModels(models: readonly ListedModel[], request: RequestLine): JsonObject;
  renderModel(model: ListedModel): JsonObject;
}

export interface ParseContext {
  readonly call: Call;
  readonly warnings: TranslationWarnings;
  /** Opens what `RenderContext.seal` sealed; undefined for other texts. */
  unseal(text: string): OpaqueReasoning | undefined;
}

export interface RenderContext {
  readonly call: Call;
  /** The client's request, parts of which some protocols repeat in responses. */
  readonly request: TreeObject;
  readonly content: CallContent;
  /** Warnings about the response are sent until the head was written. */
  readonly warnings: TranslationWarnings;
  /** Prompt tokens as known now, at least 1: counted or estimated. */
  promptTokens(): number;
  /** Seals reasoning for clients to carry: `rly1.…`, base64url and dots. */
  seal(opaque: OpaqueReasoning): string;
}

/**
 * Renders a stream. A synchronous state machine without I/O, clock and randomness. May rely on the grammar of
 * `CallEvent`.
 */
export interface StreamRenderer {
  /** Server-sent events for this event; may be empty. */
  next(event: CallEvent): string;
  /** The end of a failed stream; never a normal end. */
  fail(error: AppError): string;
}

/** References of a request to stored content. */
export interface ResponseReferences {
  readonly responseId: string | undefined;
  /** Items of any responses. */
  readonly itemIds: readonly string[];
}

/** A stored response with its input. */
export interface StoredResponseText {
  readonly input: readonly JsonTree[];
  readonly response: TreeObject;
}

/** Stored responses that a request refers to, if they exist. */
export interface ResolvedResponses {
  readonly response: StoredResponseText | undefined;
  /** By item ID, the response that contains it. */
  readonly ofItems: ReadonlyMap<string, StoredResponseText>;
}

/** A response as sent. */
export interface RenderedResponse {
  readonly id: string;
  readonly itemIds: readonly string[];
  text(): string;
}

/** Stores responses, to which later requests refer. Pure. */
export interface ResponseStorage {
  /**
   * `response`: stored by default; a stream ends with all of it, and requests refer to it in the body. `thread`: stored
   * on request, with its conversation; requests refer to it as upstream state of this kind.
   */
  readonly kind: 'response' | 'thread';
  /** ID of a response rendered here; undefined if clients cannot refer to it. */
  idOf(call: Call): string | undefined;
  /** Of the kind `response`. */
  referencesIn?(request: TreeObject): ResponseReferences;
  /**
   * The request with references replaced.
   * @throws AppError invalid_request naming what is missing
   */
  expand(request: TreeObject, stored: ResolvedResponses): TreeObject;
  /**
   * The complete input as JSON, for upstreams of the protocol that lack what the request continues.
   * @param earlier input and response as JSON
   */
  inputAfter(call: Call, earlier: { readonly input: string; readonly response: string }): string;
  /** The complete input of an expanded request. */
  inputOf(request: TreeObject): readonly JsonTree[];
  /** The response in its final bytes, or the message in all of its bytes, streamed or not; undefined if incomplete. */
  responseIn(bytes: Uint8Array): RenderedResponse | undefined;
}

// Where model text is in a protocol's messages; data, because a separate thread uses it.

export interface PromptPlaces {
  /** Root members with the conversation: a string, a message or a list of messages. */
  readonly conversation: readonly string[];
  /** Root members with tools and output formats, whose names count too. */
  readonly definitions: readonly string[];
  /** Message members without text: IDs, kinds, URLs, encrypted content. */
  readonly ignored: readonly string[];
  /** Message members read completely, including names: tool arguments. */
  readonly whole: readonly string[];
}

export interface ResponsePlaces {
  /** Root members of a complete response with output. */
  readonly within: readonly string[];
  /** Members at any depth whose strings are output. */
  readonly texts: readonly string[];
}

export interface TextPlaces {
  readonly prompt: PromptPlaces;
  readonly response: ResponsePlaces;
}

/** Token counting without a call. Pure. */
export interface TokenCountEndpoint {
  readonly protocol: ProtocolId;
  /** Path, as in `callPaths`: `/v1/messages/count_tokens`. */
  readonly path: string;
  /** Reads a body without members that only calls need. */
  headReader(request: RequestLine): HeadReader;
  /** The client's bytes with the upstream's model name. */
  requestFor(call: Call, upstreamModel: string): UpstreamRequest;
  /** Whether an upstream's response contains the count. */
  hasCount(body: JsonObject): boolean;
  render(tokens: number): JsonObject;
}
