import { count, percent, UNKNOWN } from '../../../../platform/format/index.js';
import { at, type ChartTable, WIDTH } from './chart.js';

interface TimelineBar {
  readonly atMs: number;
  readonly tookMs: number;
}

export interface WaterfallStep {
  readonly name: string;
  /** Milliseconds since the call started; null if unknown, then it is not drawn. */
  readonly atMs: number | null;
  readonly tookMs: number | null;
  /** Drawn instead if the step was interrupted. */
  readonly bars?: readonly TimelineBar[];
  /** `whole`: an attempt; `part`: a phase of it. */
  readonly rank?: 'whole' | 'part';
  readonly tone: 'ours' | 'connect' | 'wait' | 'stream' | 'client' | 'failed';
  readonly outcome?: string;
  readonly bad?: boolean;
  readonly reason?: string;
}

const CLASSES = { ours: 'f5', connect: 'f4', wait: 'f2', stream: 'f1', client: 'f3', failed: 'fbad' } as const;
const MIN = 4;
const TICKS = 4;

/** Data of the `waterfall` partial: the steps of a call on one scale. */
export function waterfall(steps: readonly WaterfallStep[], totalMs: number) {
  const lengthMs = Math.max(1, totalMs);
  const scale = WIDTH / lengthMs;
  // Whole milliseconds: a shorter axis has its ends only.
  const parts = lengthMs < TICKS ? 1 : TICKS;
  return {
    ticks: Array.from(
      { length: parts + 1 },
      (_, index) => count((lengthMs * index) / parts) + (index === parts ? ' ms' : ''),
    ),
    steps: steps.map((step) => ({
      ...step,
      isWhole: step.rank === 'whole',
      isPart: step.rank === 'part',
      class: CLASSES[step.tone],
      bars: spansOf(step).map((span) => barOf(span, scale)),
    })),
  };
}

function spansOf({ atMs, tookMs, bars }: WaterfallStep): readonly TimelineBar[] {
  if (bars !== undefined) return bars;
  return atMs === null || tookMs === null ? [] : [{ atMs, tookMs }];
}

function barOf({ atMs, tookMs }: TimelineBar, scale: number): { x: string; width: string } {
  const width = Math.min(WIDTH, Math.max(MIN, tookMs * scale));
  return { x: at(Math.max(0, Math.min(atMs * scale, WIDTH - width))), width: at(width) };
}

interface StripCell {
  readonly label: string;
  /** Success rate, 0 to 1; undefined without calls. */
  readonly share: number | undefined;
}

interface StripInput {
  /** Beginning of the finding: `Answered by hour, last 24 hours`. */
  readonly name: string;
  readonly cellName: string;
  readonly valueName: string;
  readonly cells: readonly StripCell[];
}

/** Data of the `strip` partial, with its table. */
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

/** Success rate from which calls count as served: tolerates single failures among many. */
export const OPERATIONAL = 0.995;
/** Below this rate most calls fail. */
export const MAJORITY = 0.5;
const ROOM = 10;
const CELL_SHARE = 0.75;

export function healthStrip({ name, cellName, valueName, cells }: StripInput): Strip {
  return {
    finding: `${name}: ${findingOf(cells)}`,
    width: cells.length * ROOM,
    cells: cells.map(({ label, share }, index) => ({
      title: `${label}: ${share === undefined ? 'no calls' : textOf(share)}`,
      class: colorOf(share),
      x: at(index * ROOM),
      width: at(ROOM * CELL_SHARE),
    })),
    table: {
      caption: name,
      columns: [cellName, valueName],
      rows: cells.map(({ label, share }) => ({ head: label, cells: [textOf(share)] })),
    },
  };
}

const textOf = (share: number | undefined): string => (share === undefined ? UNKNOWN : percent(share, 1));

function colorOf(share: number | undefined): string {
  if (share === undefined) return 'fidle';
  if (share >= OPERATIONAL) return 'f4';
  return share >= MAJORITY ? 'f2' : 'fbad';
}

function findingOf(cells: readonly StripCell[]): string {
  const measured = cells.filter((cell): cell is StripCell & { share: number } => cell.share !== undefined);
  const lowest = measured.toSorted((one, other) => one.share - other.share)[0];
  if (lowest === undefined) return 'no data';
  const measuredIn = measured.length === cells.length ? 'each' : `${measured.length} with data`;
  if (lowest.share === 1) return `100% in ${measuredIn}`;
  return `at least ${textOf(lowest.share)} in ${measuredIn}, lowest at ${lowest.label}`;
}
