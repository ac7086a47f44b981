import type { AppError, JsonObject } from '../../platform/shared/index.js';
import type { ResponseStorage } from './response-storage.js';
import type { Call } from './call.js';
import type { ProtocolId } from './protocol-id.js';
import type { HeadReader } from './head-reader.js';
import type { LimitStatuses } from '../../platform/limits/index.js';
import type { PromptQuestion } from './prompt-question.js';
import type { RequestLine } from './request-line.js';
import type { SseEvent } from './sse-event.js';
import type { TextPlaces } from './text-places.js';
import type { ParseContext, RenderContext, StreamRenderer } from './translation/adapter-contexts.js';
import type { CallContent } from './translation/content.js';
import type { CallResult } from './translation/events.js';
import type { TreeObject } from './translation/json-tree.js';

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
