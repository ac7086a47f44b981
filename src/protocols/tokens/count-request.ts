import type { PromptSample, TextPlaces } from '../contract/index.js';

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
