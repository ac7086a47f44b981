import type { UsageFilter } from '../usage-filter.js';

/** What calls can be divided by. */
export type Dimension = 'model' | 'key' | 'group' | 'channel' | 'account';

/** Its column, of rows `c` of calls or of their sums. */
export const COLUMNS: Readonly<Record<Dimension, string>> = {
  model: 'c.model',
  key: 'c.key_id',
  group: 'c.group_name',
  channel: 'c.channel',
  account: 'c.account_id',
};

/** SQL for the rows that tell of an account's calls when nothing is asked of models, keys, groups and channels. */
export const WITHOUT_DIMENSIONS = `c.level IN ('all', 'few')`;

/**
 * SQL for the rows `c` of `usage_slots` that calls of a filter are summed up in, divided by these; its own conditions left
 * out. Undefined: the sums do not know what is asked for.
 */
export function slotsOf(filter: UsageFilter, by: readonly Dimension[]): string | undefined {
  const { accountId, requestId, upstream, atALoss, isCorrected } = filter;
  if (requestId !== undefined || upstream !== undefined || atALoss === true || isCorrected === true) return undefined;
  const asked = new Set<Dimension>(by.filter((dimension) => dimension !== 'account'));
  if (filter.model !== undefined) asked.add('model');
  if (filter.keyId !== undefined) asked.add('key');
  if (filter.group !== undefined) asked.add('group');
  if (filter.channel !== undefined) asked.add('channel');
  // Keys stand in the rows of accounts, channels in those of all accounts together, and nothing knows both.
  const isOfAccounts = accountId !== undefined || asked.has('key') || by.includes('account');
  if (isOfAccounts && asked.has('channel')) return undefined;
  const whose = accountId !== undefined ? '' : ` AND c.account_id ${isOfAccounts ? '<>' : '='} ''`;
  return `${levelOf([...asked])}${whose}`;
}

function levelOf([first, ...others]: readonly Dimension[]): string {
  if (first === undefined) return WITHOUT_DIMENSIONS;
  return `c.level IN ('${others.length === 0 ? first : 'each'}', 'few')`;
}
