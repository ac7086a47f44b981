import type { TokenUsage } from './call.js';

/** What an answer tells the engine while it passes. Usage is cumulative: each report replaces the one before. */
export type CallSignal =
  /** The first piece of content of this frame: text, reasoning, a tool call. Everything before it is prelude. */
  | { readonly type: 'content' }
  /** Output seen in passing, in tokens, roughly: what is charged when the upstream never reports. */
  | { readonly type: 'output'; readonly units: number }
  | { readonly type: 'usage'; readonly usage: TokenUsage }
  /** The words of prompt and answer, in tokens, counted at the end of an answer without a report. */
  | { readonly type: 'counted'; readonly prompt: number; readonly output: number };

/** A piece of the answer, ready to be written, with what the meter must know about it. */
export interface Frame {
  readonly bytes: Uint8Array;
  readonly signals: readonly CallSignal[];
  /** True for the one frame that ends the answer; it is kept back until the call is settled. */
  readonly last: boolean;
}
