import { calendarDate, shortDay } from '../../../../platform/format/index.js';
import type { Nanos } from '../../../../platform/shared/index.js';
import { EMPTY, GRID } from './bars.js';
import {
  at,
  type Buckets,
  type Chart,
  type ChartWithTable,
  DOLLARS,
  HEIGHT,
  MILLISECONDS,
  roundedMaximum,
  spread,
  type Values,
  WIDTH,
} from './chart.js';

interface LatencyInput {
  readonly id: string;
  readonly finding: string;
  readonly buckets: Buckets;
  readonly median: Values;
  readonly p95: Values;
}

/** Median with area, and 95th percentile. */
export function latencyLines({ id, finding, buckets, median, p95 }: LatencyInput): Chart {
  const top = roundedMaximum(Math.max(0, ...[...median, ...p95].map((value) => Number(value ?? 0))), true);
  const points = (values: Values): Run[] =>
    runsOf(
      values.map((value, index) => (value === null ? null : [xOf(index, values.length), heightOf(Number(value), top)])),
    );
  return {
    ...EMPTY,
    id,
    finding,
    grid: GRID,
    yLabels: [top, top / 2, 0].map((value) => MILLISECONDS.text(value)),
    xLabels: spread(buckets),
    areas: points(median).map(areaPath),
    lines: [
      { class: 'l1', path: points(median).map(linePath).join('') },
      { class: 'l2', path: points(p95).map(linePath).join('') },
    ].filter(({ path }) => path !== ''),
    legend: [
      { class: 'f1', name: 'Median' },
      { class: 'f2', name: '95th percentile' },
    ],
  };
}

type Point = readonly [x: number, y: number];
/** Points without a gap. */
type Run = readonly Point[];

const xOf = (index: number, number: number): number => (number < 2 ? WIDTH / 2 : (index / (number - 1)) * WIDTH);
const heightOf = (value: number, top: number): number => HEIGHT - (Math.max(0, value) / top) * HEIGHT;

function runsOf(points: readonly (Point | null)[]): Run[] {
  const runs: Point[][] = [[]];
  for (const point of points) {
    if (point === null) runs.push([]);
    else runs.at(-1)?.push(point);
  }
  return runs.filter((run) => run.length > 0);
}

/** An isolated point is drawn as a dash to be visible. */
const DASH = 8;

function linePath(run: Run): string {
  const [first] = run;
  if (first === undefined) return '';
  if (run.length === 1) return `M${at(first[0] - DASH / 2)} ${at(first[1])}h${DASH}`;
  return `M${run.map(([x, y]) => `${at(x)} ${at(y)}`).join('L')}`;
}

function areaPath(run: Run): string {
  const [first, last] = [run[0], run.at(-1)];
  if (first === undefined || last === undefined) return '';
  return `M${at(first[0])} ${HEIGHT}L${run.map(([x, y]) => `${at(x)} ${at(y)}`).join('L')}L${at(last[0])} ${HEIGHT}Z`;
}

interface BalancePoint {
  readonly at: Date;
  readonly balance: Nanos;
}

interface ForecastInput {
  readonly id: string;
  readonly finding: string;
  /** Oldest first, at least one; the last is now. */
  readonly past: readonly BalancePoint[];
  /** When the balance will be used up; undefined for no forecast. */
  readonly emptyAt: Date | undefined;
  readonly timeZone: string;
}

/** Balance over time with a forecast: as far ahead as the past shown, or until the balance is used up. */
export function balanceForecast({ id, finding, past, emptyAt, timeZone }: ForecastInput): ChartWithTable {
  const ahead = emptyAt === undefined ? undefined : endOfForecast(past, emptyAt);
  const all = ahead === undefined ? past : [...past, ahead];
  const [start, end] = [all[0]?.at.getTime() ?? 0, all.at(-1)?.at.getTime() ?? 0];
  const top = roundedMaximum(Math.max(...all.map(({ balance }) => Number(balance))) / DOLLARS.size);
  const pointOf = ({ at: time, balance }: BalancePoint): Point => [
    end === start ? WIDTH : ((time.getTime() - start) / (end - start)) * WIDTH,
    heightOf(Number(balance), top * DOLLARS.size),
  ];
  const seen = past.map(pointOf);
  const now = past.at(-1);
  const lines = [{ class: 'l1', path: linePath(seen) }];
  if (ahead !== undefined && now !== undefined)
    lines.push({ class: 'l5', path: linePath([pointOf(now), pointOf(ahead)]) });
  const day = (point: BalancePoint | undefined): string[] =>
    point === undefined ? [] : [shortDay(point.at, timeZone)];
  return {
    chart: {
      ...EMPTY,
      id,
      finding,
      grid: GRID,
      areas: [areaPath(seen)],
      lines,
      yLabels: [top, top / 2, 0].map((value) => DOLLARS.axis(value)),
      xLabels: [...day(past.length > 1 ? past[0] : undefined), 'Today', ...day(ahead)],
    },
    table: { caption: 'Balance over time', columns: ['Day', 'Balance'], rows: rowsOf(past, ahead, timeZone) },
  };
}

function endOfForecast(past: readonly BalancePoint[], emptyAt: Date): BalancePoint | undefined {
  const [first, now] = [past[0], past.at(-1)];
  if (first === undefined || now === undefined || emptyAt <= now.at) return undefined;
  const left = emptyAt.getTime() - now.at.getTime();
  const shown = Math.min(left, Math.max(now.at.getTime() - first.at.getTime(), WEEK_MS));
  const balance = now.balance - (now.balance * BigInt(Math.round(shown))) / BigInt(Math.round(left));
  return { at: new Date(now.at.getTime() + shown), balance: balance as Nanos };
}

const WEEK_MS = 7 * 86_400_000;

function rowsOf(past: readonly BalancePoint[], ahead: BalancePoint | undefined, timeZone: string) {
  const row = (point: BalancePoint, remark: string) => ({
    head: calendarDate(point.at, timeZone) + remark,
    cells: [DOLLARS.text(point.balance)],
  });
  return [
    ...past.map((point, index) => row(point, index === past.length - 1 ? ', now' : '')),
    ...(ahead === undefined ? [] : [row(ahead, ', forecast')]),
  ];
}
