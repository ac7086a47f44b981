import type { AnswerOptions } from '../support/scripted-content.js';
import type { RecordedRequest } from '../support/scripted-request.js';
import type { Headers, JsonObject, ScriptedEvent } from '../support/scripted-steps.js';
import type { UpstreamLacks } from './upstream-half/ability.js';

/** Where a vendor lists its models. */
export interface VendorListing {
  /** Checks the request for it. @param request its path is what stands behind the base address */
  expectRequest(request: {
    readonly path: string;
    readonly query: URLSearchParams;
    readonly headers: Readonly<Record<string, string>>;
  }): void;
  /** The answer that lists models of these names, and beside them what cannot be called, where the vendor has such. */
  body(names: readonly string[]): JsonObject;
}

/**
 * A vendor of one dialect, as tests play it: written from the vendor's documentation and without the adapter, so that
 * what the adapter gets wrong is not wrong here as well.
 */
export interface DialectVendor {
  /** The adapter's. */
  readonly id: string;
  /** What the dialect has no words for, with the reason. What is asked for all the same has to be told as lost. */
  readonly lacks?: UpstreamLacks;
  /** Flags of a channel, `{ reasoning: true }`: what a model of today can do there. */
  readonly flags: JsonObject;
  /** Whether the request is a call of this dialect, by its path. */
  isCall(request: Pick<RecordedRequest, 'path'>): boolean;
  /** Whether that call wants its answer streamed; by its body or by its path, as the dialect has it. */
  wantsStream(request: Pick<RecordedRequest, 'path' | 'query' | 'body'>): boolean;
  /** Which of its models the call is for; undefined when it does not say. */
  modelOf(request: Pick<RecordedRequest, 'path' | 'body'>): string | undefined;
  /** Of every answer. */
  readonly headers: Headers;
  /**
   * A streamed answer, in the words of the vendor's documentation.
   * @param request that is answered, where there is one: in some dialects it says what the answer tells
   */
  events(options?: AnswerOptions, request?: JsonObject): ScriptedEvent[];
  /** The same answer whole. */
  body(options?: AnswerOptions): JsonObject;
  /** How a refusal with this status reads. */
  errorBody(status: number, message: string): JsonObject;
  /** How it refuses a prompt that does not fit into the model, where its documentation says so. */
  readonly tooLong?: { readonly status: number; readonly body: JsonObject };
  /** How a running stream reports failure. @param sequence the number of the next event, for dialects that number them */
  errorEvents(message: string, sequence: number): readonly ScriptedEvent[];
  /** Absent where the vendor has no list of its models. */
  readonly listing?: VendorListing;
  /** What only keeps a stream open: it may come before everything and anywhere. Absent where the dialect has none. */
  readonly keepAlive?: ScriptedEvent;
  /** What an event of a stream has behind which nothing is missing though the connection closes. */
  readonly closes: RegExp;
  /** What a request asks for, as `Asked`: what it leaves open is absent or undefined. */
  asked(request: JsonObject): object;
  /** Checks a request against what the vendor demands of all of them and refuses otherwise. */
  expectRequest(request: JsonObject): void;
  /**
   * Stands in what is sent when the reasoning of `events` comes back as it was: the text itself, `THOUGHT`, where nothing
   * is signed. Undefined where none has to come back.
   */
  readonly reasoningMark: string | undefined;
  /** Checks more of a request in which it came back, where the mark does not say enough. */
  expectReasoning?(request: JsonObject): void;
}
