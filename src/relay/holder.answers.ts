import { type KeyDescription, renderBudgets } from '../keys/index.js';
import { formatUsd, type JsonObject } from '../shared/index.js';

/** Amounts in US dollars as decimal strings; a quota or budget of null is unlimited. */
export const renderKey = ({ name, group, quota, used, held, budgets, wallet }: KeyDescription): JsonObject => ({
  object: 'key',
  name,
  group,
  quota_usd: quota === undefined ? null : formatUsd(quota),
  used_usd: formatUsd(used),
  held_usd: formatUsd(held),
  quota_left_usd: quota === undefined ? null : formatUsd(quota - used - held),
  budgets: renderBudgets(budgets),
  wallet: {
    balance_usd: formatUsd(wallet.balance),
    held_usd: formatUsd(wallet.held),
    owed_usd: formatUsd(wallet.owed),
  },
});
