import type { RequestBuild } from './messages.build-context.js';

/**
 * How many tokens a model may write, thoughts included: the dialect demands a number. It is never raised for the sake of
 * thinking above what the client asked for, which is what is held.
 */
export function maxTokensOf({ content: { outputLimit }, target, losses }: RequestBuild): number {
  if (outputLimit !== undefined && outputLimit > target.maxOutputTokens) losses.warn('clamped', 'max_tokens');
  return Math.min(outputLimit ?? Infinity, target.outputLimit ?? Infinity, target.maxOutputTokens);
}
