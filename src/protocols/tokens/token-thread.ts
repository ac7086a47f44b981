import { Injectable } from '@nestjs/common';
import type { PromptSample, TextPlaces } from '../contract/index.js';

/** The thread's program, and how much it is trusted with. Tests put others in their place. */
@Injectable()
export class TokenThread {
  readonly program: URL = new URL('./token-worker.js', import.meta.url);
  /** From when a count is asked for until it is given up, in ms. The first one waits for the thread to start as well. */
  readonly patienceMs: number = 10_000;
  /** Of one request, in bytes. More text than this fits into no model's context; images are counted elsewhere. */
  readonly maxBytes: number = 32 * 1024 * 1024;
  /** Of all that wait, in bytes. */
  readonly maxWaitingBytes: number = 64 * 1024 * 1024;
  /** Of V8's heap in the thread, in MiB. */
  readonly maxHeapMib: number = 512;
}

/** What is to be counted. It goes to another thread as a copy, so it is data and nothing else. */
export interface CountRequest {
  /** The request's body, or what was kept of it; absent when only the answer is to be counted. */
  readonly prompt?: Uint8Array | PromptSample | undefined;
  /** A whole answer; or the texts of one that was streamed, as far as they were kept. */
  readonly answer: Uint8Array | readonly string[];
  readonly places: TextPlaces;
}

/** Tokens of a call as a tokenizer counts them. */
export interface CountedTokens {
  readonly prompt: number;
  readonly output: number;
}

/** What the thread says: the counts, or the name of what went wrong; never a word of anybody's text. */
export type CountReply = CountedTokens | { readonly fault: string };
