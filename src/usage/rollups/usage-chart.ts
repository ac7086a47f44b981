import type { UsageFilter } from '../usage-filter.js';

/** Width of a bar. */
export type ChartUnit = 'minute' | 'hour' | 'six hours' | 'day' | 'week';

/** The bars of a chart, in the viewer's time zone. */
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

/** Chosen to give 24 to 120 bars. */
export const unitFor = (from: Date, to: Date): ChartUnit =>
  UNITS.find(([upToMs]) => to.getTime() - from.getTime() <= upToMs)?.[1] ?? 'week';

const STEPS: Readonly<Record<ChartUnit, string>> = {
  minute: '1 minute',
  hour: '1 hour',
  'six hours': '6 hours',
  day: '1 day',
  week: '7 days',
};

/** SQL expression for the start of a moment's bar. Days begin at local midnight. */
export function barOf(unit: ChartUnit, moment: string, zone: string): string {
  if (unit === 'minute' || unit === 'hour') return `date_trunc('${unit}', ${moment}, ${zone})`;
  return `(${localBarOf(unit, `(${moment} AT TIME ZONE ${zone})`)} AT TIME ZONE ${zone})`;
}

/** SQL table `bars (bar)` with the starts of all bars in a period. */
export function barsBetween(unit: ChartUnit, from: string, to: string, zone: string): string {
  if (unit === 'minute' || unit === 'hour')
    return `generate_series(${barOf(unit, from, zone)}, ${to} - interval '1 microsecond', interval '${STEPS[unit]}') AS bars (bar)`;
  const first = localBarOf(unit, `(${from} AT TIME ZONE ${zone})`);
  const last = `((${to} - interval '1 microsecond') AT TIME ZONE ${zone})`;
  return `(SELECT local AT TIME ZONE ${zone} AS bar FROM generate_series(${first}, ${last}, interval '${STEPS[unit]}') AS s (local)) AS bars`;
}

const localBarOf = (unit: 'six hours' | 'day' | 'week', local: string): string =>
  unit === 'six hours' ? `date_bin('6 hours', ${local}, '2000-01-01')` : `date_trunc('${unit}', ${local})`;

/** Dimensions by which usage can be split. */
export type Dimension = 'model' | 'key' | 'group' | 'channel' | 'account';

/** Columns of calls and rollups, with alias `c`. */
export const COLUMNS: Readonly<Record<Dimension, string>> = {
  model: 'c.model',
  key: 'c.key_id',
  group: 'c.group_name',
  channel: 'c.channel',
  account: 'c.account_id',
};

/** SQL condition for rollups of an account that are not split by a dimension. */
export const WITHOUT_DIMENSIONS = `c.level IN ('all', 'few')`;

/**
 * SQL condition for rows `c` of `usage_slots` that cover a filter and split, without the filter's own conditions.
 * Undefined if no rollup does.
 */
export function rollupsOf(filter: UsageFilter, by: readonly Dimension[]): string | undefined {
  const { accountId, memberId, requestId, upstream, atALoss, isCorrected } = filter;
  // Rollups have no members.
  if (memberId !== undefined) return undefined;
  if (requestId !== undefined || upstream !== undefined || atALoss === true || isCorrected === true) return undefined;
  const requested = new Set<Dimension>(by.filter((dimension) => dimension !== 'account'));
  if (filter.model !== undefined) requested.add('model');
  if (filter.keyId !== undefined) requested.add('key');
  if (filter.group !== undefined) requested.add('group');
  if (filter.channel !== undefined) requested.add('channel');
  // Rollups of accounts have keys, rollups of all accounts have channels; none has both.
  const isOfAccounts = accountId !== undefined || requested.has('key') || by.includes('account');
  if (isOfAccounts && requested.has('channel')) return undefined;
  const whose = accountId !== undefined ? '' : ` AND c.account_id ${isOfAccounts ? '<>' : '='} ''`;
  return `${levelOf([...requested])}${whose}`;
}

function levelOf([first, ...others]: readonly Dimension[]): string {
  if (first === undefined) return WITHOUT_DIMENSIONS;
  return `c.level IN ('${others.length === 0 ? first : 'each'}', 'few')`;
}
