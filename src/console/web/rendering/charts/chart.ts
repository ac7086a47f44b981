import { compact, count, exactUsd, price, usd } from '../../../../platform/format/index.js';

/** Labels of time spans: `7 Nov`, `15:00`. */
export type Buckets = readonly string[];
/** One value per bucket; null without data, which is drawn as a gap. */
export type Values = readonly (ChartAmount | null)[];

/** Data of the `chart` partial. */
export interface Chart {
  readonly id: string;
  /** A sentence: `Spend per day, last 14 days. Total $46.70`. */
  readonly finding: string;
  /** SVG path; undefined without axis. */
  readonly grid: string | undefined;
  readonly bars: readonly Bar[];
  readonly areas: readonly string[];
  readonly lines: readonly { readonly class: string; readonly path: string }[];
  /** From top to bottom. */
  readonly yLabels: readonly string[];
  readonly xLabels: readonly string[];
  readonly legend: readonly { readonly class: string; readonly name: string }[];
  /** One per bucket that leads somewhere. */
  readonly links: readonly BucketLink[];
}

/** The whole height of a bucket. */
interface BucketLink {
  readonly href: string;
  readonly title: string;
  readonly x: string;
  readonly width: string;
}

/** @param hrefs by bucket; undefined: no link */
export function bucketLinks(hrefs: readonly (string | undefined)[], titles: Buckets): readonly BucketLink[] {
  const width = WIDTH / hrefs.length;
  return hrefs.flatMap((href, index) =>
    href === undefined ? [] : [{ href, title: titles[index] ?? '', x: at(index * width), width: at(width) }],
  );
}

export interface Bar {
  /** Not shown if the chart has links, which have their own. */
  readonly title: string;
  readonly parts: readonly { readonly class: string; readonly path: string }[];
}

/** The data of one or more charts as an accessible table. */
export interface ChartTable {
  readonly caption: string;
  readonly columns: readonly string[];
  readonly rows: readonly {
    readonly head: string;
    readonly href?: string | undefined;
    readonly cells: readonly string[];
  }[];
  /** The sums of all rows. */
  readonly total?: readonly string[];
}

export interface ChartWithTable {
  readonly chart: Chart;
  readonly table: ChartTable;
}

interface ChartColumn {
  readonly name: string;
  readonly values: Values;
  readonly unit: Unit;
}

/** One row per bucket. @param bucketName heading of the first column: `Day` */
export function chartTable(
  caption: string,
  bucketName: string,
  buckets: Buckets,
  columns: readonly ChartColumn[],
): ChartTable {
  return {
    caption,
    columns: [bucketName, ...columns.map(({ name }) => name)],
    rows: buckets.map((head, index) => ({
      head,
      cells: columns.map(({ values, unit }) => textOf(values[index], unit)),
    })),
  };
}

const textOf = (value: ChartAmount | null | undefined, unit: Unit): string =>
  value === null || value === undefined ? '–' : unit.text(value);

/** Size of a plot in SVG units; the page stretches both. */
export const HEIGHT = 100;
export const WIDTH = 1000;

/** Axis maximums whose half is round, too. */
const ROUND = [1, 1.2, 1.6, 2, 3, 4, 6, 8, 10];

/** The smallest round upper bound; 1 if there is no data. @param whole whether half of it must be an integer */
export function roundedMaximum(maximum: number, whole = false): number {
  const end = maximum > 0 ? roundUp(maximum) : 1;
  return whole ? 2 * Math.ceil(end / 2) : end;
}

function roundUp(maximum: number): number {
  const power = 10 ** Math.floor(Math.log10(maximum));
  const step = ROUND.find((candidate) => candidate * power >= maximum * (1 - 1e-9)) ?? 10;
  return Number((step * power).toPrecision(6));
}

export const at = (value: number): string => value.toFixed(2).replace(/\.?0+$/, '');

/** Up to this many labels, rounding would show. */
const FEW = 12;

/** Evenly spaced labels, including the first and the last. */
export function spread(labels: readonly string[], max = 4): string[] {
  const gaps = labels.length - 1;
  let number = Math.min(max, labels.length);
  while (labels.length <= FEW && number > 2 && gaps % (number - 1) !== 0) number -= 1;
  if (number < 2) return [...labels];
  return Array.from(
    { length: number },
    (_, index) => labels[Math.round((index * (labels.length - 1)) / (number - 1))] ?? '',
  );
}

/** Money is in nano-dollars (bigint). */
export type ChartAmount = number | bigint;

export interface Unit {
  /** Values per unit of the axis: 1e9 nano-dollars per dollar. */
  readonly size: number;
  /** Whether axis labels must be integers. */
  readonly whole: boolean;
  /** For tables and tooltips. */
  text(value: ChartAmount): string;
  axis(value: number): string;
}

export const DOLLARS: Unit = {
  size: 1e9,
  whole: false,
  text: (value) => usd(BigInt(value)),
  axis: (value) => price(BigInt(Math.round(value * 1e9))).replace(/\.00$/, ''),
};
/** All digits, for amounts that must add up to a wallet's. */
export const EXACT_DOLLARS: Unit = { ...DOLLARS, text: (value) => exactUsd(BigInt(value)) };
export const COUNT: Unit = { size: 1, whole: true, text: count, axis: count };
export const TOKENS: Unit = { size: 1, whole: true, text: compact, axis: compact };
export const MILLISECONDS: Unit = {
  size: 1,
  whole: true,
  text: (value) => `${count(value)} ms`,
  axis: (value) => count(value),
};
