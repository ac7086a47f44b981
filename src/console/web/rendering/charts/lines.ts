import { EMPTY, HEADROOM } from './bars.js';
import type { Chart, Values } from './chart.js';
import { at, HEIGHT, WIDTH } from './scale.js';

export interface LatencyInput {
  /** Unique on its page. */
  readonly id: string;
  readonly finding: string;
  /** In milliseconds, one a bucket. */
  readonly median: Values;
  readonly p95: Values;
}

/** The median as a line over its area, the 95th percentile above it; small, without an axis. */
export function latencyLines({ id, finding, median, p95 }: LatencyInput): Chart {
  const top = Math.max(0, ...[...median, ...p95].map((value) => Number(value ?? 0))) * HEADROOM || 1;
  const points = (values: Values): Run[] =>
    runsOf(
      values.map((value, index) => (value === null ? null : [xOf(index, values.length), heightOf(Number(value), top)])),
    );
  return {
    ...EMPTY,
    id,
    finding,
    mini: true,
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

/** In units of the drawing, from its top left. */
export type Point = readonly [x: number, y: number];
/** Points with nothing missing between them. */
type Run = readonly Point[];

const xOf = (index: number, number: number): number => (number < 2 ? WIDTH / 2 : (index / (number - 1)) * WIDTH);
export const heightOf = (value: number, top: number): number => HEIGHT - (Math.max(0, value) / top) * HEIGHT;

/** Where a point is missing, a run ends. */
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

export function linePath(run: Run): string {
  const [first] = run;
  if (first === undefined) return '';
  if (run.length === 1) return `M${at(first[0] - DASH / 2)} ${at(first[1])}h${DASH}`;
  return `M${run.map(([x, y]) => `${at(x)} ${at(y)}`).join('L')}`;
}

/** What lies below a line. */
export function areaPath(run: Run): string {
  const [first, last] = [run[0], run.at(-1)];
  if (first === undefined || last === undefined) return '';
  return `M${at(first[0])} ${HEIGHT}L${run.map(([x, y]) => `${at(x)} ${at(y)}`).join('L')}L${at(last[0])} ${HEIGHT}Z`;
}
