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
