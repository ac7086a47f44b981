import type { TokenUsage } from '../call.js';
import type { Annotation, ResponsePart, OpaqueReasoning } from './content.js';

/** Why an answer ended. `context`: the model's window is full. */
export type StopReason =
  'end' | 'max_tokens' | 'stop_sequence' | 'tool_calls' | 'refusal' | 'content_filter' | 'pause' | 'context';

/** What a part is known by before anything of it has come. */
export type PartStart =
  | { readonly kind: 'text' | 'refusal' | 'reasoning' }
  | {
      readonly kind: 'tool-call';
      readonly id: string;
      readonly name: string;
      readonly namespace?: string | undefined;
      readonly isFreeform?: boolean | undefined;
    };

/**
 * A piece of an answer, in no dialect. The grammar, which `EventGrammar` checks:
 *
 *     answer := call-start item* call-stop usage-update* call-end
 *     item   := usage-update | part-start part-delta* part-annotation* part-seal? part-end
 *
 * One part is open at a time. The deltas of a part, put together, are the text of the part that ends it; those of a tool
 * call are its arguments. An answer that fails is no event: its decoder throws.
 */
export type CallEvent =
  | { readonly type: 'call-start' }
  | { readonly type: 'part-start'; readonly start: PartStart }
  | { readonly type: 'part-delta'; readonly text: string }
  | { readonly type: 'part-annotation'; readonly annotation: Annotation }
  /** Reasoning only. */
  | { readonly type: 'part-seal'; readonly opaque: OpaqueReasoning }
  | { readonly type: 'part-end'; readonly part: ResponsePart }
  /** What is used by now; replaces what was said before. Provisional: says nothing of the output yet. */
  | { readonly type: 'usage-update'; readonly usage: TokenUsage; readonly isProvisional?: boolean }
  | {
      readonly type: 'call-stop';
      readonly reason: StopReason;
      /** The text that ended it. */
      readonly sequence?: string | undefined;
    }
  | { readonly type: 'call-end' };

/** A whole answer. */
export interface CallResult {
  readonly parts: readonly ResponsePart[];
  readonly stop: StopReason;
  readonly sequence?: string | undefined;
  /** Undefined when the upstream did not say. */
  readonly usage: TokenUsage | undefined;
}
