import type { Asked } from '../support/asked.js';
import type { Heard } from '../support/heard.js';
import type { JsonObject } from '../support/scripted-steps.js';
import type { ReadEvent } from '../support/stream-text.js';
import type { ClientLacks } from './client-half/ability.js';

/**
 * A client of one dialect, as tests play it: written from the dialect's documentation and without the adapter, so that
 * what the adapter gets wrong is not wrong here as well.
 */
export interface DialectClient {
  /** The adapter's. */
  readonly id: string;
  /** What the dialect has no words for, with the reason. */
  readonly lacks?: ClientLacks;
  /** Where it posts its calls: `/v1/messages`. */
  readonly path: string;
  /** The request, but for the model. A stream is asked for with whatever makes it say all that the client can hear. */
  request(asked: Asked, stream: boolean): JsonObject;
  /** What a request has besides when the client wants to see reasoning. */
  readonly wantsReasoning: JsonObject;
  /** There when reasoning that a vendor has signed or encrypted comes back from it; without, only what can be read does. */
  readonly returnsSealedReasoning?: true;
  /** What it makes of a whole answer. Fails when the answer is against the rules of the dialect. */
  heard(body: JsonObject): Heard;
  /** What it makes of a stream that came to its end. Fails when the stream is against the grammar of the dialect. */
  heardStream(stream: string): Heard;
  /** Whose errors it reads, of the two that most dialects have; one of its own unless given. */
  readonly errorForm?: 'openai' | 'messages';
  /** What keeps its streams alive where that is neither a comment nor a `ping`: `/data: {"tick":true}\n\n/g`. */
  readonly keepAlive?: RegExp;
  /** How many events tell that a stream has failed; one unless given. */
  readonly failureEvents?: number;
  /** Checks what stands behind the events before it when a stream failed: nobody may take it for a good end. */
  expectFailure(before: readonly ReadEvent[], ending: readonly ReadEvent[]): void;
  /**
   * The request that follows an answer with one call: the one before, what was answered, and "Snow." as the call's result.
   * @param answer as it came, a stream or JSON
   */
  continued(request: JsonObject, answer: string, callId: string): JsonObject;
}
