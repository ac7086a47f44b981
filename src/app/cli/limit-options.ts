import type { Command } from 'commander';
import {
  describeLimits,
  type Limits,
  type LimitsChange,
  limitsIn,
  type renderLimits,
} from '../../platform/limits/index.js';
import { countArgument, countOrNoneArgument, networksArgument } from './arguments.js';

// Options for rate limits, shared by accounts and keys.

/** For a new account or key. */
export interface NewLimitOptions {
  readonly rpm?: number;
  readonly tpm?: number;
  readonly concurrency?: number;
}

/** For a change of limits. */
export interface LimitOptions {
  readonly rpm?: number | 'none';
  readonly tpm?: number | 'none';
  readonly concurrency?: number | 'none';
  readonly clear?: true;
}

export const withNewLimits = (command: Command): Command =>
  command
    .option('--rpm <number>', 'max calls per minute; the default limit if omitted', countArgument)
    .option('--tpm <number>', 'max tokens per minute, prompt and response', countArgument)
    .option('--concurrency <number>', 'max concurrent calls', countArgument);

/** For an existing account or key. */
export const withLimits = (command: Command): Command =>
  command
    .option('--rpm <number>', 'max calls per minute, or none for the default limit', countOrNoneArgument)
    .option('--tpm <number>', 'max tokens per minute, prompt and response, or none', countOrNoneArgument)
    .option('--concurrency <number>', 'max concurrent calls, or none', countOrNoneArgument)
    .option('--clear', 'remove the limits that are not specified');

export const withNetworks = (command: Command): Command =>
  command.option('--networks <list>', 'allowed IP addresses and ranges, separated by commas, or any', networksArgument);

export const newLimits = ({ rpm, tpm, concurrency }: NewLimitOptions): Limits => ({
  ...(rpm !== undefined && { requestsPerMinute: rpm }),
  ...(tpm !== undefined && { tokensPerMinute: tpm }),
  ...(concurrency !== undefined && { concurrency }),
});

/** Undefined if no limit is given. */
export function limitsChange({ rpm, tpm, concurrency, clear }: LimitOptions): LimitsChange | undefined {
  if (!clear && [rpm, tpm, concurrency].every((limit) => limit === undefined)) return undefined;
  const changed = (limit: number | 'none' | undefined): number | null | undefined =>
    limit === 'none' ? null : (limit ?? (clear ? null : undefined));
  return { requestsPerMinute: changed(rpm), tokensPerMinute: changed(tpm), concurrency: changed(concurrency) };
}

/** Rendered limits as text: `60 calls a minute, 4 at a time`. */
export const limitsText = (rendered: ReturnType<typeof renderLimits>): string =>
  describeLimits(
    limitsIn({
      requestsPerMinute: rendered.requests_per_minute,
      tokensPerMinute: rendered.tokens_per_minute,
      concurrency: rendered.concurrency,
    }),
  ) || '-';
