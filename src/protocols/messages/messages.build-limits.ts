import type { RequestBuild } from './messages.build-context.js';

/** How much a model may write. */
export interface OutputLimits {
  /** Tokens, as `max_tokens` says them: the dialect demands a number. */
  readonly maxTokens: number;
  /** What it may be raised to for the sake of thinking: never above what the client asked for, which is what is held. */
  readonly highest: number;
}

export function outputLimits({ content, target, flags, losses }: RequestBuild): OutputLimits {
  const { outputLimit } = content;
  const known = target.maxOutputTokens > 0 ? target.maxOutputTokens : undefined;
  if (outputLimit !== undefined && outputLimit > (known ?? Infinity)) losses.warn('clamped', 'max_tokens');
  const highest = Math.min(known ?? Infinity, target.outputLimit ?? Infinity, outputLimit ?? Infinity);
  return { maxTokens: Math.min(outputLimit ?? known ?? flags.defaultMaxTokens, highest), highest };
}
