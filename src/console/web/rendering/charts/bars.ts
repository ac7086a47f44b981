import { percent } from '../../../../platform/format/index.js';
import {
  type Amount,
  at,
  type Bar,
  type Buckets,
  type Chart,
  chartTable,
  type ChartWithTable,
  HEIGHT,
  roundedMaximum,
  spread,
  type Unit,
  type Values,
  WIDTH,
} from './chart.js';

export interface BarsInput {
  /** Unique on its page. */
  readonly id: string;
  readonly finding: string;
  readonly buckets: Buckets;
  /** What is counted: `calls`. */
  readonly name: string;
  readonly values: Values;
  readonly unit: Unit;
}

/** One number a bucket, small and without an axis; its numbers stand in a table that it shares with others. */
export function miniBars({ id, finding, buckets, name, values, unit }: BarsInput): Chart {
  const series = [{ class: 'f1', name, values }];
  return { ...EMPTY, id, finding, mini: true, bars: drawBars(buckets, series, unit, highest(series) * HEADROOM) };
}

export interface MiniStackInput extends Omit<BarsInput, 'name' | 'values'> {
  /** Drawn in this order, the first at the bottom. */
  readonly series: readonly Series[];
  /** Whether the last of them is all the rest. */
  readonly withRest: boolean;
}

/** The same of several numbers a bucket. */
export function miniStack({ id, finding, buckets, series, withRest, unit }: MiniStackInput): Chart {
  const rest = withRest ? series.length - 1 : -1;
  const drawn = series.map((one, index) => ({ ...one, class: index === rest ? 'f5' : `f${index + 1}` }));
  const top = highest([{ values: summed(buckets, drawn) }]) * HEADROOM;
  return { ...EMPTY, id, finding, mini: true, bars: drawBars(buckets, drawn, unit, top), legend: drawn };
}

export interface Series {
  readonly name: string;
  readonly values: Values;
  /** Left out: by its place. `fbad` is for failures. */
  readonly class?: 'f1' | 'fbad';
}

export interface StackedBarsInput {
  /** Unique on its page. */
  readonly id: string;
  readonly finding: string;
  /** Of the table: `Spend per day`. */
  readonly caption: string;
  /** What a bucket is: `Day`. */
  readonly bucketName: string;
  readonly buckets: Buckets;
  /** As many as there are; the four largest are drawn, the rest as one. */
  readonly series: readonly Series[];
  /** What the rest is called: `Other models`. */
  readonly restName: string;
  readonly unit: Unit;
  /** Which series has which colour, where charts of a page must agree; left out: by size. */
  readonly order?: readonly string[];
}

/** What adds up in each bucket, by who made it up; with an axis and its numbers as a table. */
export function stackedBars(input: StackedBarsInput): ChartWithTable {
  const { id, finding, caption, bucketName, buckets, unit } = input;
  const series = coloured(input);
  const total = summed(buckets, series);
  const top = roundedMaximum(highest([{ values: total }]) / unit.size, unit.whole);
  const chart: Chart = {
    ...EMPTY,
    id,
    finding,
    grid: GRID,
    bars: drawBars(buckets, series, unit, top * unit.size),
    yLabels: [top, top / 2, 0].map((value) => unit.axis(value)),
    xLabels: spread(buckets),
    legend: series,
  };
  const columns = [...series, ...(series.length > 1 ? [{ name: 'Total', values: total }] : [])];
  return {
    chart,
    table: chartTable(
      caption,
      bucketName,
      buckets,
      columns.map((column) => ({ ...column, unit })),
    ),
  };
}

/** Half, whole and nothing. */
export const GRID = `M0 0H${WIDTH}M0 ${HEIGHT / 2}H${WIDTH}M0 ${HEIGHT}H${WIDTH}`;
export const EMPTY = {
  mini: false,
  grid: undefined,
  bars: [],
  areas: [],
  lines: [],
  yLabels: [],
  xLabels: [],
  legend: [],
};
/** What is left free above the highest value where no axis says how high it is. */
export const HEADROOM = 1.08;
/** Of the room of a bucket, what its bar takes. */
const BAR_SHARE = 0.72;
const MAX_SERIES = 4;

interface ColouredSeries extends Omit<Series, 'class'> {
  readonly class: string;
}

const sumOf = (values: Values): number => values.reduce<number>((all, value) => all + Number(value ?? 0), 0);
const highest = (series: readonly Pick<Series, 'values'>[]): number =>
  Math.max(0, ...series.flatMap(({ values }) => values.map((value) => Number(value ?? 0))));

function coloured({ series, order, buckets, restName }: StackedBarsInput): ColouredSeries[] {
  const place = (name: string): number => {
    const known = order?.indexOf(name) ?? 0;
    return known < 0 ? Infinity : known;
  };
  const sorted = series.toSorted(
    (one, other) => place(one.name) - place(other.name) || 0 || sumOf(other.values) - sumOf(one.values),
  );
  const shown = sorted.length > MAX_SERIES + 1 ? sorted.slice(0, MAX_SERIES) : sorted;
  const rest = sorted.slice(shown.length);
  const drawn = shown.map((one, index) => ({ ...one, class: one.class ?? `f${index + 1}` }));
  return rest.length === 0 ? drawn : [...drawn, { name: restName, values: summed(buckets, rest), class: 'f5' }];
}

/** Null only where none of them has anything. */
function summed(buckets: Buckets, series: readonly Pick<Series, 'values'>[]): (Amount | null)[] {
  return buckets.map((_, index) =>
    series.map(({ values }) => values[index] ?? null).reduce((all, value) => add(all, value), null),
  );
}

function add(one: Amount | null, other: Amount | null): Amount | null {
  if (one === null) return other;
  if (other === null) return one;
  return typeof one === 'bigint' || typeof other === 'bigint' ? BigInt(one) + BigInt(other) : one + other;
}

function drawBars(buckets: Buckets, series: readonly ColouredSeries[], unit: Unit, top: number): Bar[] {
  const room = WIDTH / buckets.length;
  return buckets.flatMap((label, index) => {
    const there = series
      .map((one) => ({ ...one, value: one.values[index] ?? null }))
      .filter((one): one is typeof one & { value: Amount } => one.value !== null && Number(one.value) > 0);
    if (there.length === 0) return [];
    let y = HEIGHT;
    const parts = there.map(({ class: name, value }) => {
      const height = (Number(value) / (top || 1)) * HEIGHT;
      y -= height;
      const x = (index + (1 - BAR_SHARE) / 2) * room;
      return { class: name, x: at(x), y: at(y), width: at(room * BAR_SHARE), height: at(height) };
    });
    return [{ title: `${label}: ${there.map(({ name, value }) => `${name} ${unit.text(value)}`).join(', ')}`, parts }];
  });
}

export interface Share {
  readonly name: string;
  readonly value: number;
  /** `f1` to `f5`. */
  readonly class: string;
}

const GAP = 3;

/** What parts a whole has, in one bar; undefined when there is nothing to show. */
export function shareBar(finding: string, shares: readonly Share[]) {
  const there = shares.filter(({ value }) => value > 0);
  const total = there.reduce((sum, { value }) => sum + value, 0);
  if (total === 0) return undefined;
  const room = WIDTH - GAP * (there.length - 1);
  let x = 0;
  const parts = there.map(({ name, value, class: colour }) => {
    const width = (value / total) * room;
    const part = { name, share: percent(value, total), class: colour, x: at(x), width: at(width) };
    x += width + GAP;
    return part;
  });
  return { label: `${finding}: ${parts.map(({ name, share }) => `${share} ${name}`).join(', ')}`, parts };
}

/** How much of a quota is used, as the partial `quota-meter` draws it. */
export function quotaMeter(used: bigint, quota: bigint) {
  const share = quota <= 0n ? 100 : Math.min(100, Number((used * 1000n) / quota) / 10);
  const colour = share >= 80 ? 'f2' : 'f1';
  return {
    width: at(share),
    // Rounded down: what is not used up never says 100%.
    percent: Math.floor(share),
    class: quota <= 0n || used >= quota ? 'fbad' : colour,
  };
}
