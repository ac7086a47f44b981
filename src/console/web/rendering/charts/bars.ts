import { percent } from '../../../../platform/format/index.js';
import {
  type ChartAmount,
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

interface Series {
  readonly name: string;
  readonly values: Values;
  /** Default: by position. `fbad` is for failures. */
  readonly class?: 'f1' | 'f2' | 'f5' | 'fbad';
}

interface StackedBarsInput {
  readonly id: string;
  readonly finding: string;
  /** Table caption: `Spend per day`. */
  readonly caption: string;
  readonly bucketName: string;
  readonly buckets: Buckets;
  /** All series; the four largest are drawn, and the sum of the others. */
  readonly series: readonly Series[];
  /** Name of that sum: `Other models`. */
  readonly restName: string;
  readonly unit: Unit;
  /** Color order of series, if charts of a page must agree; default: by size. */
  readonly order?: readonly string[];
}

/** Stacked bars with an axis and a table. */
export function stackedBars(input: StackedBarsInput): ChartWithTable {
  const { id, finding, caption, bucketName, buckets, unit } = input;
  const series = colored(input);
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

/** At the maximum, half and zero. */
export const GRID = `M0 0H${WIDTH}M0 ${HEIGHT / 2}H${WIDTH}M0 ${HEIGHT}H${WIDTH}`;
export const EMPTY = {
  grid: undefined,
  bars: [],
  areas: [],
  lines: [],
  yLabels: [],
  xLabels: [],
  legend: [],
  links: [],
};
/** Width of a bar relative to its bucket. */
const BAR_SHARE = 0.72;
const MAX_SERIES = 4;

interface ColoredSeries extends Omit<Series, 'class'> {
  readonly class: string;
}

const sumOf = (values: Values): number => values.reduce<number>((all, value) => all + Number(value ?? 0), 0);
const highest = (series: readonly Pick<Series, 'values'>[]): number =>
  Math.max(0, ...series.flatMap(({ values }) => values.map((value) => Number(value ?? 0))));

function colored({ series, order, buckets, restName }: StackedBarsInput): ColoredSeries[] {
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

/** Null only if all values are null. */
function summed(buckets: Buckets, series: readonly Pick<Series, 'values'>[]): (ChartAmount | null)[] {
  return buckets.map((_, index) =>
    series.map(({ values }) => values[index] ?? null).reduce((all, value) => add(all, value), null),
  );
}

function add(one: ChartAmount | null, other: ChartAmount | null): ChartAmount | null {
  if (one === null) return other;
  if (other === null) return one;
  return typeof one === 'bigint' || typeof other === 'bigint' ? BigInt(one) + BigInt(other) : one + other;
}

function drawBars(buckets: Buckets, series: readonly ColoredSeries[], unit: Unit, top: number): Bar[] {
  const room = WIDTH / buckets.length;
  return buckets.flatMap((label, index) => {
    const present = series
      .map((one) => ({ ...one, value: one.values[index] ?? null }))
      .filter((one): one is typeof one & { value: ChartAmount } => one.value !== null && Number(one.value) > 0);
    if (present.length === 0) return [];
    const x = at((index + (1 - BAR_SHARE) / 2) * room);
    const width = at(room * BAR_SHARE);
    let filled = 0;
    const parts = present.map(({ class: name, value }) => {
      const bottom = toPlot(filled / (top || 1));
      filled += Number(value);
      return { class: name, path: `M${x} ${bottom}V${toPlot(filled / (top || 1))}h${width}V${bottom}z` };
    });
    return [
      { title: `${label}: ${present.map(({ name, value }) => `${name} ${unit.text(value)}`).join(', ')}`, parts },
    ];
  });
}

/** Tenths of a unit are a fraction of a pixel, and pages have hundreds of parts. @param share of the height */
const toPlot = (share: number): string => at(Number(((1 - share) * HEIGHT).toFixed(1)));

interface BarShare {
  readonly name: string;
  readonly value: number;
  readonly class: string;
}

const GAP = 3;

/** Parts of a whole in one bar; undefined if there are none. */
export function shareBar(finding: string, shares: readonly BarShare[]) {
  const present = shares.filter(({ value }) => value > 0);
  const total = present.reduce((sum, { value }) => sum + value, 0);
  if (total === 0) return undefined;
  const room = WIDTH - GAP * (present.length - 1);
  let x = 0;
  const parts = present.map(({ name, value, class: color }) => {
    const width = (value / total) * room;
    const part = { name, share: percent(value, total), class: color, x: at(x), width: at(width) };
    x += width + GAP;
    return part;
  });
  return { label: `${finding}: ${parts.map(({ name, share }) => `${share} ${name}`).join(', ')}`, parts };
}

/** Data of the `quota-meter` partial. */
export function quotaMeter(used: bigint, quota: bigint) {
  const share = quota <= 0n ? 100 : Math.min(100, Number((used * 1000n) / quota) / 10);
  const color = share >= 80 ? 'f2' : 'f1';
  return {
    width: at(share),
    // Rounded down: 100% means used up.
    percent: Math.floor(share),
    class: quota <= 0n || used >= quota ? 'fbad' : color,
  };
}
