import type { Command } from 'commander';
import { type ApiKey, renderBudgets } from '../../keys/index.js';
import { describeLimits, type Limits, type LimitsChange, limitsIn, renderLimits } from '../../platform/limits/index.js';
import { formatUsd } from '../../platform/shared/index.js';
import { countArgument, countOrNoneArgument, networksArgument } from './arguments.js';

type RenderedBudgets = ReturnType<typeof renderBudgets>;

/** A key as `key list --json` prints it. */
interface ListedKey {
  readonly id: string;
  readonly name: string;
  readonly state: string;
  readonly hint: string;
  readonly quota_usd: string | null;
  readonly used_usd: string;
  readonly held_usd: string;
  readonly budgets: RenderedBudgets;
  readonly group: string | null;
  readonly expires_at: string | null;
  readonly strict: boolean;
  readonly never_stores: boolean;
  readonly limits: ReturnType<typeof renderLimits>;
  /** Empty: any. */
  readonly networks: readonly string[];
}

export const listedKey = (key: ApiKey): ListedKey => ({
  id: key.id,
  name: key.name,
  state: key.state,
  hint: key.hint,
  quota_usd: key.quota === undefined ? null : formatUsd(key.quota),
  used_usd: formatUsd(key.used),
  held_usd: formatUsd(key.held),
  budgets: renderBudgets(key.budgets),
  group: key.groupName ?? null,
  expires_at: key.expiresAt?.toISOString() ?? null,
  strict: key.strict,
  never_stores: key.neverStores,
  limits: renderLimits(key.limits),
  networks: key.networks ?? [],
});

const dollars = (amount: string | null): string => (amount === null ? 'unlimited' : `$${amount}`);

/** Used and max: `daily $1 of $5, monthly $20 of $100`. */
export function budgetsText(budgets: RenderedBudgets): string {
  const texts = Object.entries(budgets).flatMap(([name, budget]) =>
    budget === null ? [] : [`${name} $${String(budget['used_usd'])} of $${String(budget['limit_usd'])}`],
  );
  return texts.join(', ') || '-';
}

export const networksText = (networks: readonly string[]): string => networks.join(', ') || '-';

/** As a table. */
export const keyTable = (keys: readonly ListedKey[]): readonly (readonly string[])[] => [
  ['KEY', 'NAME', 'STATE', 'QUOTA', 'USED', 'ON HOLD', 'BUDGETS', 'GROUP', 'EXPIRES', 'ID', 'LIMITS', 'NETWORKS'],
  ...keys.map((key) => [
    key.hint,
    key.name,
    key.state,
    dollars(key.quota_usd),
    dollars(key.used_usd),
    dollars(key.held_usd),
    budgetsText(key.budgets),
    key.group ?? '-',
    key.expires_at ?? '-',
    key.id,
    limitsText(key.limits),
    networksText(key.networks),
  ]),
];

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
    .option('--clear', 'also reset the limits not given here to the default');

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

/** Rendered limits as text: `60 calls/min, 4 at a time`. */
export const limitsText = (rendered: ReturnType<typeof renderLimits>): string =>
  describeLimits(
    limitsIn({
      requestsPerMinute: rendered.requests_per_minute,
      tokensPerMinute: rendered.tokens_per_minute,
      concurrency: rendered.concurrency,
    }),
  ) || '-';
