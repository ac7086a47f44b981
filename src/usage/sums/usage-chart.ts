import type { UsageFilter } from '../usage-filter.js';

/** How wide a bar is. */
export type ChartUnit = 'minute' | 'hour' | 'six hours' | 'day' | 'week';

/** The bars of a chart, in the time zone of whoever looks at it. */
export interface ChartScale {
  readonly unit: ChartUnit;
  readonly timeZone: string;
}

const HOUR_MS = 60 * 60 * 1000;
const DAY_MS = 24 * HOUR_MS;

const UNITS: readonly (readonly [upToMs: number, unit: ChartUnit])[] = [
  [2 * HOUR_MS, 'minute'],
  [2 * DAY_MS, 'hour'],
  [10 * DAY_MS, 'six hours'],
  [100 * DAY_MS, 'day'],
];

/** So that there are 24 to 120 bars, of a length that people know. */
export const unitFor = (from: Date, to: Date): ChartUnit =>
  UNITS.find(([upToMs]) => to.getTime() - from.getTime() <= upToMs)?.[1] ?? 'week';

const STEPS: Readonly<Record<ChartUnit, string>> = {
  minute: '1 minute',
  hour: '1 hour',
  'six hours': '6 hours',
  day: '1 day',
  week: '7 days',
};

/** SQL for the beginning of the bar that a moment lies in. Days begin at midnight there, summer time or not. */
export function barOf(unit: ChartUnit, moment: string, zone: string): string {
  if (unit === 'minute' || unit === 'hour') return `date_trunc('${unit}', ${moment}, ${zone})`;
  return `(${localBarOf(unit, `(${moment} AT TIME ZONE ${zone})`)} AT TIME ZONE ${zone})`;
}

/** SQL for the beginnings of all bars from one moment to before another, as a table `bars (bar)`. */
export function barsBetween(unit: ChartUnit, from: string, to: string, zone: string): string {
  if (unit === 'minute' || unit === 'hour')
    return `generate_series(${barOf(unit, from, zone)}, ${to} - interval '1 microsecond', interval '${STEPS[unit]}') AS bars (bar)`;
  const first = localBarOf(unit, `(${from} AT TIME ZONE ${zone})`);
  const last = `((${to} - interval '1 microsecond') AT TIME ZONE ${zone})`;
  return `(SELECT local AT TIME ZONE ${zone} AS bar FROM generate_series(${first}, ${last}, interval '${STEPS[unit]}') AS s (local)) AS bars`;
}

const localBarOf = (unit: 'six hours' | 'day' | 'week', local: string): string =>
  unit === 'six hours' ? `date_bin('6 hours', ${local}, '2000-01-01')` : `date_trunc('${unit}', ${local})`;

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
