import type { TokenUsage } from './call.js';
import type { CreatedState } from './request-demands.js';

/** Reported usage. A report before the response has the prompt only. */
interface UsageReport {
  readonly type: 'usage';
  readonly usage: TokenUsage;
  /** True for such a report, which is not final. */
  readonly isProvisional?: boolean;
}

/** What a response tells the engine. Usage is cumulative: each report replaces the previous one. */
export type CallSignal =
  /** First content of this frame: text, reasoning, a tool call. Everything before is prelude. */
  | { readonly type: 'content' }
  /**
   * Estimated output tokens, fractional; with their text if it can be counted later, and the index of interleaved
   * texts.
   */
  | { readonly type: 'output'; readonly units: number; readonly text?: string; readonly lane?: number }
  | UsageReport
  /** State created by the upstream; does not affect the price. */
  | { readonly type: 'state'; readonly created: readonly CreatedState[] }
  /** A complete response in the client's protocol, whose output can be counted. */
  | { readonly type: 'whole'; readonly bytes: Uint8Array };

/** Whether the signal is a final usage report. */
export const isFinalReport = (signal: CallSignal): boolean => signal.type === 'usage' && !signal.isProvisional;

/** A piece of the response to be written, with its signals. */
export interface Frame {
  readonly bytes: Uint8Array;
  readonly signals: readonly CallSignal[];
  /** Ends the response; held back until the call is settled. */
  readonly last: boolean;
}
