import type { Nanos } from '../../../../platform/shared/index.js';
import { calendarDate, shortDay } from '../../../../platform/format/index.js';
import { EMPTY, GRID } from './bars.js';
import type { ChartWithTable } from './chart.js';
import { areaPath, heightOf, linePath, type Point } from './lines.js';
import { roundedMaximum, WIDTH } from './scale.js';
import { DOLLARS } from './unit.js';

export interface BalancePoint {
  readonly at: Date;
  readonly balance: Nanos;
}

export interface ForecastInput {
  /** Unique on its page. */
  readonly id: string;
  readonly finding: string;
  /** Oldest first, at least one; the last is now. */
  readonly past: readonly BalancePoint[];
  /** When nothing is left at the present pace; undefined: no forecast. */
  readonly emptyAt: Date | undefined;
  readonly timeZone: string;
}

/** A balance over time and where it is heading: as far ahead as it looks back, or until nothing is left. */
export function balanceForecast({ id, finding, past, emptyAt, timeZone }: ForecastInput): ChartWithTable {
  const ahead = emptyAt === undefined ? undefined : endOfForecast(past, emptyAt);
  const all = ahead === undefined ? past : [...past, ahead];
  const [start, end] = [all[0]?.at.getTime() ?? 0, all.at(-1)?.at.getTime() ?? 0];
  const top = roundedMaximum(Math.max(...all.map(({ balance }) => Number(balance))) / DOLLARS.size);
  const pointOf = ({ at, balance }: BalancePoint): Point => [
    end === start ? WIDTH : ((at.getTime() - start) / (end - start)) * WIDTH,
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

/** Where the line of the forecast ends: half of the chart is what was, half what comes. */
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
