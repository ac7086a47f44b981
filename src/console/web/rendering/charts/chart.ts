import type { Amount, Unit } from './unit.js';

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

export interface Column {
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
