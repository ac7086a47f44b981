import type { AppError } from '../../../platform/shared/index.js';
import type { Call } from '../call.js';
import type { SseEvent } from '../sse-event.js';
import type { CallContent, OpaqueReasoning } from './content.js';
import type { CallEvent } from './events.js';
import type { TreeObject } from './json-tree.js';
import type { TranslationWarnings } from './warnings.js';

/** Context for parsing a request. */
export interface ParseContext {
  readonly call: Call;
  readonly warnings: TranslationWarnings;
  /** Opens what `RenderContext.seal` sealed; undefined for other texts. */
  unseal(text: string): OpaqueReasoning | undefined;
}

/** Context for rendering a response. */
export interface RenderContext {
  readonly call: Call;
  /** The client's request, parts of which some protocols repeat in responses. */
  readonly request: TreeObject;
  readonly content: CallContent;
  /** Warnings about the response are sent as long as the head was not. */
  readonly warnings: TranslationWarnings;
  /** Prompt tokens as known now, at least 1: counted or estimated. */
  promptTokens(): number;
  /** Seals reasoning for clients to carry: `rly1.…`, base64url and dots. */
  seal(opaque: OpaqueReasoning): string;
}

/** Context for building an upstream request. */
export interface BuildContext {
  readonly call: Call;
  readonly content: CallContent;
  readonly warnings: TranslationWarnings;
}

/**
 * Renders a stream. A synchronous state machine: no I/O, no clock, no randomness. May rely on the grammar of
 * `CallEvent`.
 */
export interface StreamRenderer {
  /** Server-sent events for this event; may be empty. */
  next(event: CallEvent): string;
  /** The end of a failed stream; never a normal end. */
  fail(error: AppError): string;
}

/**
 * Decodes an upstream stream. A synchronous state machine: no I/O, no clock, no randomness. Its output always obeys the
 * grammar of `CallEvent`.
 */
export interface StreamDecoder {
  /** @throws AppError when the event is the upstream's error or malformed */
  next(event: SseEvent): readonly CallEvent[];
  /**
   * The upstream closed the stream: remaining events if the protocol allows an end here.
   * @throws AppError upstream_truncated otherwise
   */
  end(): readonly CallEvent[];
}
