import type { ResponseOptions } from '../support/scripted-content.js';
import type { RecordedRequest } from '../support/scripted-request.js';
import type { Headers, JsonObject, ScriptedEvent } from '../support/scripted-steps.js';
import type { UpstreamLacks } from './upstream-half/ability.js';

/** A vendor's list of models. */
export interface VendorListing {
  /** Checks the request. @param request with its path relative to the base URL */
  expectRequest(request: {
    readonly path: string;
    readonly query: URLSearchParams;
    readonly headers: Readonly<Record<string, string>>;
  }): void;
  /** A list of these models, with others that cannot be called if the vendor has such. */
  body(names: readonly string[]): JsonObject;
}

/** Test double of a protocol's vendor, written from its documentation, independently of the adapter. */
export interface VendorDouble {
  /** As the adapter's. */
  readonly id: string;
  /** Unsupported abilities with the reason. Requests for them must cause warnings. */
  readonly lacks?: UpstreamLacks;
  /** Flags of a channel with a current model: `{ reasoning: true }`. */
  readonly flags: JsonObject;
  /** Whether the request is a call of this protocol, by its path. */
  isCall(request: Pick<RecordedRequest, 'path'>): boolean;
  /** Whether the call is streamed, by body or path. */
  wantsStream(request: Pick<RecordedRequest, 'path' | 'query' | 'body'>): boolean;
  /** The requested model; undefined if unspecified. */
  modelOf(request: Pick<RecordedRequest, 'path' | 'body'>): string | undefined;
  /** Of every response. */
  readonly headers: Headers;
  /**
   * A stream as documented by the vendor.
   * @param request affects the response in some protocols
   */
  events(options?: ResponseOptions, request?: JsonObject): ScriptedEvent[];
  /** The same response, unstreamed. */
  body(options?: ResponseOptions): JsonObject;
  /** An error response with this status. */
  errorBody(status: number, message: string): JsonObject;
  /** The documented error for a prompt that exceeds the context window. */
  readonly tooLong?: { readonly status: number; readonly body: JsonObject };
  /** The end of a failed stream. @param sequence number of the next event, if numbered */
  errorEvents(message: string, sequence: number): readonly ScriptedEvent[];
  /** Absent without a list of models. */
  readonly listing?: VendorListing;
  /** A keep-alive event; absent if there is none. */
  readonly keepAlive?: ScriptedEvent;
  /** Matches an event after which the connection may close. */
  readonly closes: RegExp;
  /** The request as a `NeutralRequest`; unset members are absent or undefined. */
  readRequest(request: JsonObject): object;
  /** Checks a request against what the vendor demands of all of them and refuses otherwise. */
  expectRequest(request: JsonObject): void;
  /**
   * Marks a request that sends the reasoning of `events` back unchanged: the text itself, `THOUGHT`, if nothing is signed.
   * Undefined if reasoning does not have to be sent back.
   */
  readonly reasoningMark: string | undefined;
  /** Additional checks of a request with sent-back reasoning. */
  expectReasoning?(request: JsonObject): void;
}
