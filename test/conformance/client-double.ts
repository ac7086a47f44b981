import type { NeutralRequest } from '../support/neutral-request.js';
import type { NeutralResponse } from '../support/neutral-response.js';
import type { JsonObject } from '../support/scripted-steps.js';
import type { ReadEvent } from '../support/stream-text.js';
import type { ClientLacks } from './client-half/ability.js';

/** Test double of a protocol's client, written from its documentation, independently of the adapter. */
export interface ClientDouble {
  /** As the adapter's. */
  readonly id: string;
  /** Unsupported abilities with the reason. */
  readonly lacks?: ClientLacks;
  /** Path of calls, as the adapter's: `/v1/messages`. */
  readonly path: string;
  /** Set if the URL names the model, and whether to stream, instead of the body. */
  readonly address?: (model: string, stream: boolean) => { readonly path: string; readonly query: string };
  /** A request without the model. Streams request everything the client can read. */
  request(requested: NeutralRequest, stream: boolean): JsonObject;
  /** Additional members for showing reasoning. */
  readonly wantsReasoning: JsonObject;
  /** Set if the client sends sealed reasoning back; otherwise only readable reasoning. */
  readonly returnsSealedReasoning?: true;
  /** Reads an unstreamed response. Fails if it is invalid. */
  readResponse(body: JsonObject): NeutralResponse;
  /** Reads a complete stream. Fails if it violates the grammar. */
  readStream(stream: string): NeutralResponse;
  /** Common form of its errors; absent: its own. */
  readonly errorForm?: 'openai' | 'messages';
  /** Keep-alives other than comments and `ping`: `/data: {"tick":true}\n\n/g`. */
  readonly keepAlive?: RegExp;
  /** Number of events that end a failed stream. Default: 1. */
  readonly failureEvents?: number;
  /** Checks the end of a failed stream, which must not resemble a normal end. */
  expectFailure(before: readonly ReadEvent[], ending: readonly ReadEvent[]): void;
  /**
   * The request after a response with one call: the previous one, the response, and "Snow." as result.
   * @param response stream or JSON
   */
  continued(request: JsonObject, response: string, callId: string): JsonObject;
}
