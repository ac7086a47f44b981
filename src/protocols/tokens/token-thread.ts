import { Injectable } from '@nestjs/common';
import type { PromptSample, TextPlaces } from '../contract/index.js';

/** The program and limits of the counting thread. Tests override them. */
@Injectable()
export class TokenThread {
  readonly program: URL = new URL('./token-worker.js', import.meta.url);
  /** Timeout in ms; for the first request including the start of the thread. */
  readonly timeoutMs: number = 10_000;
  /** Max bytes per request: more text than any context window. */
  readonly maxBytes: number = 32 * 1024 * 1024;
  /** Max bytes queued. */
  readonly maxWaitingBytes: number = 64 * 1024 * 1024;
  /** V8 heap limit, in MiB. */
  readonly maxHeapMib: number = 512;
}

/** A counting request, copied to the thread. */
export interface CountRequest {
  /** The body or a sample; absent if only the response is counted. */
  readonly prompt?: Uint8Array | PromptSample | undefined;
  /** A complete response, or the kept texts of a streamed one. */
  readonly response: Uint8Array | readonly string[];
  readonly places: TextPlaces;
}

/** Counted tokens of a call. */
export interface CountedTokens {
  readonly prompt: number;
  readonly output: number;
}

/** Counts, or the name of an error; never user text. */
export type CountReply = CountedTokens | { readonly error: string };
