import type { LimitStatuses } from '../../platform/limits/index.js';
import type { AppError, JsonObject } from '../../platform/shared/index.js';
import type { Call } from './call.js';
import type { HeadReader } from './head-reader.js';
import type { ProtocolId, RequestLine } from './request-line.js';
import type { SseEvent } from './sse-event.js';
import type { ParseContext, RenderContext, StreamRenderer } from './translation/adapter-contexts.js';
import type { CallContent } from './translation/content.js';
import type { CallResult } from './translation/events.js';
import type { JsonTree, TreeObject } from './translation/json-tree.js';
import type { UpstreamRequest } from './upstream-request.js';

/** An error as one dialect words it on HTTP. */
export interface RenderedError {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: JsonObject;
}

/** A model as the lists of models show it. */
export interface ListedModel {
  readonly id: string;
  readonly displayName: string;
  readonly ownedBy: string;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
}

/** What a stream had said before it failed, so that the failure fits behind it. Absent events were never received. */
export interface StreamTail {
  readonly first?: SseEvent | undefined;
  readonly last?: SseEvent | undefined;
}

/**
 * The side that clients speak to. Pure: no I/O, no clock, no ids, no Nest.
 * Everything it throws is an AppError.
 */
export interface ProtocolAdapter {
  readonly id: ProtocolId;
  /** Where clients of this dialect post their calls, in the usual form: `/v1/messages`. */
  readonly callPaths: readonly string[];
  /** How clients ask for the token count of a prompt; absent where the protocol has no such request. */
  readonly promptQuestion?: PromptQuestion;
  /** Headers of a call that go upstream, and so change what the same body is answered with. */
  readonly forwardedHeaders: readonly string[];
  /** True when this dialect words the errors for such a path and such headers. */
  claims(request: RequestLine): boolean;
  /**
   * Reads the head of one call from its bytes in one pass, as they arrive. The same interpreted member twice, in
   * whatever spelling, is refused: a byte reader and a JSON parser must never see two different models.
   */
  headReader(request: RequestLine): HeadReader;
  /** Names of members whose objects are kept as their text when a request is parsed: schemas, arguments. */
  readonly rawMembers: ReadonlySet<string>;
  /** Where the words are that an upstream would have counted, for answers whose usage nobody reports. */
  readonly textPlaces: TextPlaces;
  /**
   * What a request asks for, for an upstream of another dialect. What that dialect has no word for is a loss or refused.
   * @throws AppError invalid_request naming the member at fault
   */
  parseRequest(request: TreeObject, context: ParseContext): CallContent;
  /** A whole answer, as JSON text. */
  renderResponse(result: CallResult, context: RenderContext): string;
  renderStream(context: RenderContext): StreamRenderer;
  /** True when streams state the prompt's tokens at their start, so that these are counted while the upstream is asked. */
  readonly startsWithPromptTokens?: boolean;
  /** There when clients of this dialect can have answers kept. */
  readonly storage?: ResponseStorage;
  renderError(error: AppError, requestId: string): RenderedError;
  /** Headers that say how much is left of our own limits; none where there are none. */
  renderLimits(standings: LimitStatuses): Readonly<Record<string, string>>;
  /** The bytes that end a stream which failed after it began: never a normal end. */
  renderStreamError(call: Call, error: AppError, tail: StreamTail): Uint8Array;
  /** What keeps an idle stream alive; `begun` when an event of the answer has been written. */
  keepAlive(begun: boolean): Uint8Array;
  /** The list of models. @throws AppError invalid_request when the paging in the request's query is wrong */
  renderModels(models: readonly ListedModel[], request: RequestLine): JsonObject;
  renderModel(model: ListedModel): JsonObject;
}

/** What a request names in place of sending it. */
export interface NamedResponses {
  /** The answer that the request continues. */
  readonly answerId: string | undefined;
  /** Items of whichever answers. */
  readonly itemIds: readonly string[];
}

/** An answer that was kept, and all that it was an answer to. */
export interface StoredResponseText {
  readonly input: readonly JsonTree[];
  readonly response: TreeObject;
}

/** What is kept of the answers that a request names: what is absent is not. */
export interface ResolvedResponses {
  readonly answer: StoredResponseText | undefined;
  /** By the id of the item, the answer that it is part of. */
  readonly ofItems: ReadonlyMap<string, StoredResponseText>;
}

/** An answer as its client gets it. */
export interface RenderedResponse {
  readonly id: string;
  /** Of what it consists of and can be named by. */
  readonly itemIds: readonly string[];
  /** As JSON. */
  text(): string;
}

/** The part of a dialect whose clients can have answers kept, and name them later in place of sending them. Pure. */
export interface ResponseStorage {
  /** By which clients will name the answer to a call, when it is written here. */
  idOf(call: Call): string;
  named(request: TreeObject): NamedResponses;
  /**
   * The request with everything in it that it names.
   * @throws AppError invalid_request naming what is not there
   */
  expand(request: TreeObject, kept: ResolvedResponses): TreeObject;
  /** All that a request says, once it names nothing any more. */
  inputOf(request: TreeObject): readonly JsonTree[];
  /** The answer in the last bytes of it that its client gets, streamed or not; undefined when it is not there as a whole. */
  answerIn(last: Uint8Array): RenderedResponse | undefined;
}

// Where the words of a model stand in what a dialect sends: said as data, because they are read in a thread of its own.

/** Of a request: what the model reads. */
export interface PromptPlaces {
  /** Members at the top that are the conversation: each a text, or a list of messages. */
  readonly conversation: readonly string[];
  /** Members at the top that describe tools and forms of answers: what they name is read as well. */
  readonly definitions: readonly string[];
  /** Members within messages that are no words: ids, kinds, addresses, what is encrypted. */
  readonly silent: readonly string[];
  /** Members within messages that are read through and through, names included: the arguments of a tool. */
  readonly whole: readonly string[];
}

/** Of an answer: what the model wrote. */
export interface ResponsePlaces {
  /** The members at the top of a whole answer that are the model's. */
  readonly within: readonly string[];
  /** Members at any depth, those included, whose strings it wrote. */
  readonly texts: readonly string[];
}

export interface TextPlaces {
  readonly prompt: PromptPlaces;
  readonly answer: ResponsePlaces;
}

/** How one dialect asks how many tokens a prompt has, which is no call: nothing is generated. Pure, as adapters are. */
export interface PromptQuestion {
  readonly protocol: ProtocolId;
  /** Where clients post it: `/v1/messages/count_tokens`. */
  readonly path: string;
  /** Reads a body that may lack what only an answer needs. */
  headReader(request: RequestLine): HeadReader;
  /** The client's bytes for an upstream of the dialect, with its own name of the model spliced in. */
  requestFor(call: Call, upstreamModel: string): UpstreamRequest;
  /** Whether an upstream's answer says how many. */
  isAnswer(body: JsonObject): boolean;
  render(tokens: number): JsonObject;
}
