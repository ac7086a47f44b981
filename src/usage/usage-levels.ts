import { ofFinished, type UsageFilter } from './usage-filter.js';

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

/** SQL for the rows that tell of an account's calls when nothing is asked of models, keys and groups. */
export const WITHOUT_DIMENSIONS = `c.level IN ('all', 'few')`;

/**
 * SQL for the rows `c` of `usage_slots` that calls of a filter are summed up in, divided by these; its own conditions left
 * out. Undefined: the sums do not know what is asked for.
 */
export function slotsOf(filter: UsageFilter, by: readonly Dimension[]): string | undefined {
  if (filter.requestId !== undefined || ofFinished(filter) || by.includes('channel')) return undefined;
  const asked = new Set<Dimension>(by.filter((dimension) => dimension !== 'account'));
  if (filter.model !== undefined) asked.add('model');
  if (filter.keyId !== undefined) asked.add('key');
  if (filter.group !== undefined) asked.add('group');
  return `${levelOf([...asked])}${whose(filter, asked.has('key') || by.includes('account'))}`;
}

function levelOf([first, ...others]: readonly Dimension[]): string {
  if (first === undefined) return WITHOUT_DIMENSIONS;
  return `c.level IN ('${others.length === 0 ? first : 'each'}', 'few')`;
}

/** The calls of all accounts are summed up together, but not by their keys. */
function whose({ accountId }: UsageFilter, isDivided: boolean): string {
  if (accountId !== undefined) return '';
  return ` AND c.account_id ${isDivided ? '<>' : '='} ''`;
}
