/** What a soak found, as it is written down, judged, and shown. */

import type { Books } from './books.js';
import type { MemoryReport } from './memory-watch.js';
import type { Options } from './options.js';
import type { Disturbance } from './windows.js';

export interface SoakResult {
  readonly startedAt: string;
  readonly options: Options;
  readonly responses: {
    readonly whole: number;
    readonly excused: number;
    readonly left: number;
    readonly complaintCount: number;
    readonly complaints: readonly string[];
  };
  readonly faultsPlayed: number;
  readonly windows: readonly { readonly what: Disturbance; readonly detail: string; readonly ms: number }[];
  readonly memory: MemoryReport;
  readonly books: Books;
  readonly problems: readonly string[];
  /** By the program that ran last; while its database is away it says so. */
  readonly logged: readonly string[];
}

const MOST_GROWTH_PERCENT = 20;
/** In less the memory has not settled. */
const JUDGED_MINUTES = 7;
/** In which nothing went wrong, and nothing was done either. */
const FEWEST_RESPONSES = 100;

/** Why it has failed; empty when it has not. */
export function verdictOf({ responses, memory, books, problems }: SoakResult): string[] {
  const reasons = [...problems, ...books.wrong.slice(0, 5)];
  if (responses.whole < FEWEST_RESPONSES) reasons.push(`only ${responses.whole} responses came`);
  if (responses.complaintCount > 0) reasons.push(`${responses.complaintCount} responses that no client should get`);
  if (memory.watchedMinutes >= JUDGED_MINUTES && memory.growthPercent > MOST_GROWTH_PERCENT)
    reasons.push(`memory grew by ${memory.growthPercent.toFixed(0)} %`);
  return reasons;
}

export function render(result: SoakResult): string {
  const { responses, memory, books, options, windows } = result;
  const isJudged = memory.watchedMinutes >= JUDGED_MINUTES;
  const rows = [
    [
      'clients called for',
      `${options.minutes} min, ${options.clients} at a time, ${options.workers} worker(s), seed ${options.seed}`,
    ],
    ['responses', `${responses.whole} whole, ${responses.left} left by their clients`],
    ['errors while something was broken', `${responses.excused}, of ${result.faultsPlayed} faults played upstream`],
    ['errors at any other time', String(responses.complaintCount)],
    ['broken', summary(windows)],
    [
      'rows',
      `${books.rows}: ${Object.entries(books.statuses)
        .map(([status, count]) => `${count} ${status}`)
        .join(', ')}`,
    ],
    ['rows, holds or ledger wrong', String(books.wrong.length)],
    ['memory when it had settled', `${memory.settledMiB.toFixed(0)} MiB`],
    [
      'memory at the end',
      `${memory.endMiB.toFixed(0)} MiB, ${memory.growthPercent.toFixed(1)} % more${isJudged ? '' : ' (too short to judge)'}`,
    ],
    ['memory, slope', `${memory.slopeMiBPerMinute.toFixed(2)} MiB a minute`],
  ];
  const width = Math.max(...rows.map(([name = '']) => name.length));
  const lines = rows.map(([name = '', value = '']) => `  ${name.padEnd(width)}  ${value}`);
  return [...lines, ...[...responses.complaints, ...books.wrong.slice(0, 20)].map((said) => `  ! ${said}`)].join('\n');
}

function summary(windows: SoakResult['windows']): string {
  const times = new Map<string, number>();
  for (const { what } of windows) times.set(what, (times.get(what) ?? 0) + 1);
  return [...times].map(([what, count]) => `${what} ${count}×`).join(', ');
}
