import { count } from '../../../../platform/format/index.js';
import { at, WIDTH } from './chart.js';

interface Span {
  readonly atMs: number;
  readonly tookMs: number;
}

export interface Step {
  readonly name: string;
  /** Milliseconds since the call began; null: not known, and not drawn. */
  readonly atMs: number | null;
  readonly tookMs: number | null;
  /** What is drawn where it did not happen all at once: each time of it. */
  readonly bars?: readonly Span[];
  /** `whole`: an attempt; `part`: of the one before it. */
  readonly rank?: 'whole' | 'part';
  readonly tone: 'ours' | 'connect' | 'wait' | 'stream' | 'client' | 'failed';
  readonly outcome?: string;
  readonly bad?: boolean;
  /** A sentence beneath it. */
  readonly reason?: string;
}

const CLASSES = { ours: 'f5', connect: 'f4', wait: 'f2', stream: 'f1', client: 'f3', failed: 'fbad' } as const;
/** The least that can be seen. */
const MIN = 4;
const TICKS = 4;

/** The steps of a call on one scale, as the partial `waterfall` draws them. */
export function waterfall(steps: readonly Step[], totalMs: number) {
  const scale = WIDTH / Math.max(1, totalMs);
  return {
    ticks: Array.from(
      { length: TICKS + 1 },
      (_, index) => count((totalMs * index) / TICKS) + (index === TICKS ? ' ms' : ''),
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

function spansOf({ atMs, tookMs, bars }: Step): readonly Span[] {
  if (bars !== undefined) return bars;
  return atMs === null || tookMs === null ? [] : [{ atMs, tookMs }];
}

function barOf({ atMs, tookMs }: Span, scale: number): { x: string; width: string } {
  const width = Math.min(WIDTH, Math.max(MIN, tookMs * scale));
  return { x: at(Math.max(0, Math.min(atMs * scale, WIDTH - width))), width: at(width) };
}
