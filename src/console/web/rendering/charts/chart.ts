import { compact, count, exactUsd, price, usd } from '../../../../platform/format/index.js';

/** A span of time; `label` is unique enough for a table: `7 Nov`, `15:00`. */
export type Buckets = readonly string[];
/** What was measured in each bucket; null where there is nothing to measure: a gap, not a zero. */
export type Values = readonly (Amount | null)[];

/** A chart as its partial draws it. */
export interface Chart {
  readonly id: string;
  /** What the chart says, as a sentence: `Spend per day, last 14 days. Total $46.70`. */
  readonly finding: string;
  readonly mini: boolean;
  /** Lines of the grid; undefined without an axis. */
  readonly grid: string | undefined;
  readonly bars: readonly Bar[];
  readonly areas: readonly string[];
  readonly lines: readonly { readonly class: string; readonly path: string }[];
  /** From top to bottom. */
  readonly yLabels: readonly string[];
  readonly xLabels: readonly string[];
  readonly legend: readonly { readonly class: string; readonly name: string }[];
}

export interface Bar {
  readonly title: string;
  readonly parts: readonly {
    readonly class: string;
    readonly x: string;
    readonly y: string;
    readonly width: string;
    readonly height: string;
  }[];
}

/** The data of one or more charts as an accessible table. */
export interface ChartTable {
  readonly caption: string;
  readonly columns: readonly string[];
  readonly rows: readonly { readonly head: string; readonly cells: readonly string[] }[];
}

/** A chart together with its numbers. */
export interface ChartWithTable {
  readonly chart: Chart;
  readonly table: ChartTable;
}

interface Column {
  readonly name: string;
  readonly values: Values;
  readonly unit: Unit;
}

/** One row a bucket; `bucketName` heads them: `Day`, `Hour`. */
export function chartTable(
  caption: string,
  bucketName: string,
  buckets: Buckets,
  columns: readonly Column[],
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

const textOf = (value: Amount | null | undefined, unit: Unit): string =>
  value === null || value === undefined ? '–' : unit.text(value);

/** The height of every plot, in units of its drawing; its width is `WIDTH`. The page stretches both. */
export const HEIGHT = 100;
export const WIDTH = 1000;

/** Ends of an axis whose half is a round number too. */
const ROUND = [1, 1.2, 1.6, 2, 3, 4, 6, 8, 10];

/**
 * The least round number that nothing exceeds; 1 when there is nothing.
 * @param whole of what is counted in whole numbers, so that its half is one too
 */
export function roundedMaximum(maximum: number, whole = false): number {
  const end = maximum > 0 ? leastRound(maximum) : 1;
  return whole ? 2 * Math.ceil(end / 2) : end;
}

function leastRound(maximum: number): number {
  const power = 10 ** Math.floor(Math.log10(maximum));
  const step = ROUND.find((candidate) => candidate * power >= maximum * (1 - 1e-9)) ?? 10;
  return Number((step * power).toPrecision(6));
}

/** A number as it stands in a drawing: one hundredth is less than can be seen. */
export const at = (value: number): string => value.toFixed(2).replace(/\.?0+$/, '');

/** Some of the labels below a plot: the first, the last, and what lies evenly between them. */
export function spread(labels: readonly string[], most = 4): string[] {
  const number = Math.min(most, labels.length);
  if (number < 2) return [...labels];
  return Array.from(
    { length: number },
    (_, index) => labels[Math.round((index * (labels.length - 1)) / (number - 1))] ?? '',
  );
}

/** Money comes as nano-dollars (bigint), everything else as numbers. */
export type Amount = number | bigint;

/** What the values of a chart are. */
export interface Unit {
  /** How many of what comes make one of what an axis counts. */
  readonly size: number;
  /** Whether there is nothing between one and the next. */
  readonly whole: boolean;
  /** In a table and in what is said of a bar. */
  text(value: Amount): string;
  /** Beside a line of the grid, of what the axis counts. */
  axis(value: number): string;
}

const plain = (value: number): string => Number(value.toPrecision(6)).toString();

export const DOLLARS: Unit = {
  size: 1e9,
  whole: false,
  text: (value) => usd(BigInt(value)),
  axis: (value) => price(BigInt(Math.round(value * 1e9))).replace(/\.00$/, ''),
};
/** Every digit of an amount in the table: where the days of a chart are what a wallet has paid. */
export const EXACT_DOLLARS: Unit = { ...DOLLARS, text: (value) => exactUsd(BigInt(value)) };
export const COUNT: Unit = { size: 1, whole: true, text: count, axis: plain };
export const TOKENS: Unit = { size: 1, whole: true, text: compact, axis: compact };
export const MILLISECONDS: Unit = {
  size: 1,
  whole: true,
  text: (value) => `${count(value)} ms`,
  axis: (value) => count(value),
};
