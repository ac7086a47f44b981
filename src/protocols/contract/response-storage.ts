import type { Call } from './call.js';
import type { JsonTree, TreeObject } from './translation/json-tree.js';

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
