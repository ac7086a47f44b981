import type { AppError } from '../../../platform/shared/index.js';
import type { Call } from '../call.js';
import type { SseEvent } from '../sse-event.js';
import type { CallContent, OpaqueReasoning } from './content.js';
import type { CallEvent } from './events.js';
import type { TreeObject } from './json-tree.js';
import type { TranslationWarnings } from './warnings.js';

/** What the translation of a request into content needs beside the request. */
export interface ParseContext {
  readonly call: Call;
  readonly losses: TranslationWarnings;
  /** Opens what `RenderContext.seal` closed; undefined when this relay did not. */
  unseal(text: string): OpaqueReasoning | undefined;
}

/** What a dialect needs to write an answer down for the client of a call. */
export interface RenderContext {
  readonly call: Call;
  /** The client's request, of which some dialects repeat members in the answer. */
  readonly request: TreeObject;
  readonly content: CallContent;
  /** Of the answer as well: told as long as the head of the reply has not been sent. */
  readonly losses: TranslationWarnings;
  /** Tokens of the prompt as far as they are known by now, at least 1: counted, or else estimated by its size. */
  promptTokens(): number;
  /** Closes reasoning so that it can be carried by clients and known again: `rly1.…`, of base64url letters and dots. */
  seal(opaque: OpaqueReasoning): string;
}

/** What a dialect needs to ask an upstream. */
export interface BuildContext {
  readonly call: Call;
  readonly content: CallContent;
  readonly losses: TranslationWarnings;
}

/**
 * Writes one streamed answer down as server-sent events. A synchronous state machine: no I/O, no clock, no randomness.
 * It may rely on the grammar of `CallEvent`.
 */
export interface StreamRenderer {
  /** The event's share of the stream: whole server-sent events in UTF-16 text, as `renderSseText` makes them; may be empty. */
  next(event: CallEvent): string;
  /** The end of a stream that fails here: never a normal end. */
  fail(error: AppError): string;
}

/**
 * Reads one streamed answer of an upstream. A synchronous state machine: no I/O, no clock, no randomness. What it gives
 * obeys the grammar of `CallEvent`, however the upstream behaves.
 */
export interface StreamDecoder {
  /** @throws AppError when the event is the upstream's error, or cannot be read where the dialect promises that it can */
  next(event: SseEvent): readonly CallEvent[];
  /**
   * The upstream has closed the stream. What is still to be told when the dialect accepts an end here.
   * @throws AppError upstream_truncated when it does not
   */
  end(): readonly CallEvent[];
}
