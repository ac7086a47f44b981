import { type ApiKey, renderBudgets } from '../../keys/index.js';
import { renderLimits } from '../../platform/limits/index.js';
import { formatUsd } from '../../platform/shared/index.js';
import { limitsText } from './limit-options.js';

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
