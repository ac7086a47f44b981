import type { TokenUsage } from './call.js';
import type { CreatedState } from './request-demands.js';

/** What the upstream says was used. One that comes before the answer can say what it read, not what it will write. */
interface UsageReport {
  readonly type: 'usage';
  readonly usage: TokenUsage;
  /** Such a report: by itself it is not what the answer came to. */
  readonly isProvisional?: boolean;
}

/** What an answer tells the engine while it passes. Usage is cumulative: each report replaces the one before. */
export type CallSignal =
  /** The first piece of content of this frame: text, reasoning, a tool call. Everything before it is prelude. */
  | { readonly type: 'content' }
  /**
   * Output seen in passing, in tokens, roughly and in fractions; its text, where it may be counted exactly later, and
   * which of several interleaved texts that continues.
   */
  | { readonly type: 'output'; readonly units: number; readonly text?: string; readonly lane?: number }
  | UsageReport
  /** State that the upstream created for the call. It says nothing of its price. */
  | { readonly type: 'state'; readonly created: readonly CreatedState[] }
  /** A response that came whole, in the client's protocol: its output can be counted from it. */
  | { readonly type: 'whole'; readonly bytes: Uint8Array };

/** Whether the upstream has told here what the answer came to. */
export const isFinalReport = (signal: CallSignal): boolean => signal.type === 'usage' && !signal.isProvisional;

/** A piece of the answer, ready to be written, with what the meter must know about it. */
export interface Frame {
  readonly bytes: Uint8Array;
  readonly signals: readonly CallSignal[];
  /** True for the one frame that ends the answer; it is kept back until the call is settled. */
  readonly last: boolean;
}
