import type { CallContent, Losses, UpstreamTarget } from '../../call/index.js';
import type { MessagesFlags } from './messages.flags.js';

/** How much a model may write. */
export interface OutputLimits {
  /** Tokens, as `max_tokens` says them: the dialect demands a number. */
  readonly maxTokens: number;
  /** What it may be raised to for the sake of thinking. */
  readonly highest: number;
}

export function outputLimits(
  { outputLimit }: CallContent,
  target: UpstreamTarget,
  { defaultMaxTokens }: MessagesFlags,
  losses: Losses,
): OutputLimits {
  const known = target.maxOutputTokens > 0 ? target.maxOutputTokens : undefined;
  if (outputLimit !== undefined && outputLimit > (known ?? Infinity)) losses.warn('clamped', 'max_tokens');
  const highest = Math.min(known ?? Infinity, target.outputLimit ?? Infinity);
  return { maxTokens: Math.min(outputLimit ?? known ?? defaultMaxTokens, highest), highest };
}
