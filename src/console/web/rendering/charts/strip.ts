import { percent, UNKNOWN } from '../../../../platform/format/index.js';
import { at, type ChartTable } from './chart.js';

/** One span of time, mostly an hour. */
export interface StripCell {
  /** Unique enough for a table: `14:00`. */
  readonly label: string;
  /** Of what was tried, how much went well: 0 to 1. Undefined where nothing was tried: a gap, not a failure. */
  readonly share: number | undefined;
}

export interface StripInput {
  /** What is measured, as the beginning of a sentence: `Answered by hour, last 24 hours`. */
  readonly name: string;
  /** What a cell is: `Hour`. */
  readonly cellName: string;
  /** What its number is: `Answered`. */
  readonly valueName: string;
  /** From the oldest to the newest. */
  readonly cells: readonly StripCell[];
}

/** A strip as its partial draws it, with its numbers. */
export interface Strip {
  /** `Answered by hour, last 24 hours: at least 93% in each, lowest at 14:00`. */
  readonly finding: string;
  readonly width: number;
  readonly cells: readonly {
    readonly title: string;
    readonly class: string;
    readonly x: string;
    readonly width: string;
  }[];
  readonly table: ChartTable;
}

/** From here on all is well. */
const WELL = 0.995;
/** From here on it is not well, and below it is bad. */
const POOR = 0.97;
const ROOM = 10;
const CELL_SHARE = 0.75;

/** How well something went, span by span: one cell each, coloured by its share. */
export function healthStrip({ name, cellName, valueName, cells }: StripInput): Strip {
  return {
    finding: `${name}: ${findingOf(cells)}`,
    width: cells.length * ROOM,
    cells: cells.flatMap(({ label, share }, index) =>
      share === undefined
        ? []
        : [
            {
              title: `${label}: ${textOf(share)}`,
              class: colourOf(share),
              x: at(index * ROOM),
              width: at(ROOM * CELL_SHARE),
            },
          ],
    ),
    table: {
      caption: name,
      columns: [cellName, valueName],
      rows: cells.map(({ label, share }) => ({ head: label, cells: [textOf(share)] })),
    },
  };
}

const textOf = (share: number | undefined): string => (share === undefined ? UNKNOWN : percent(share, 1));

function colourOf(share: number): string {
  if (share >= WELL) return 'f4';
  return share >= POOR ? 'f2' : 'fbad';
}

function findingOf(cells: readonly StripCell[]): string {
  const measured = cells.filter((cell): cell is StripCell & { share: number } => cell.share !== undefined);
  const least = measured.toSorted((one, other) => one.share - other.share)[0];
  if (least === undefined) return 'no data';
  const measuredIn = measured.length === cells.length ? 'each' : `${measured.length} with data`;
  if (least.share === 1) return `100% in ${measuredIn}`;
  return `at least ${textOf(least.share)} in ${measuredIn}, lowest at ${least.label}`;
}
