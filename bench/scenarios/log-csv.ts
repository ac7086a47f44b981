// The log as CSV: how long it takes, whether all is in it, and what the server has in use for it beyond what it had.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Visitor } from '../load/visitor.ts';
import type { Figures } from '../report/figures.ts';
import type { Line } from '../report/result.ts';
import type { RelaySubject } from '../subjects/relay.ts';
import { probeOf } from './probed.ts';
import { known } from './segment.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
/** Between two looks: each has everything collected, and nothing is sent meanwhile. */
const LOOK_MS = 250;
const NEW_LINE = 10;

/** A tenth of it first, then the whole: timed, and once more to look at memory. */
export async function csvLines(user: Visitor, relay: RelaySubject, days: number): Promise<readonly Line[]> {
  const ranges = {
    'CSV of a tenth': `from=${daysAgo(days / 10 + 1)}&to=${daysAgo(2)}`,
    'CSV of all': `from=${daysAgo(days + 1)}&to=${daysAgo(0)}`,
  };
  const lines: Line[] = [];
  for (const [subject, range] of Object.entries(ranges)) {
    const figures = await csv(user, range);
    lines.push({ subject, figures: known({ ...figures, growth_mb: await growthMb(user, relay, range) }), rounds: [] });
  }
  return lines;
}

async function csv(user: Visitor, range: string): Promise<Figures> {
  let [bytes, lines] = [0, 0];
  const { status, lastMs } = await user.take(`/usage-logs/common.csv?range=custom&${range}`, (piece) => {
    bytes += piece.length;
    for (let at = piece.indexOf(NEW_LINE); at >= 0; at = piece.indexOf(NEW_LINE, at + 1)) lines++;
  });
  if (status !== 200) throw new Error(`The CSV was answered with ${status}.`);
  // Its first line is the header.
  return { rows: lines - 1, seconds: lastMs / 1000, mb: bytes / 1e6 };
}

async function growthMb(user: Visitor, relay: RelaySubject, range: string): Promise<number> {
  const before = await usedMb(relay);
  const ending = new AbortController();
  const taken = csv(user, range).finally(() => ending.abort());
  let most = before;
  while (!ending.signal.aborted) {
    most = Math.max(most, await usedMb(relay));
    await sleep(LOOK_MS);
  }
  await taken;
  return most - before;
}

/** What is in use when all else has been collected. */
async function usedMb(relay: RelaySubject): Promise<number> {
  const { heapUsed, external } = await probeOf(relay).memory();
  return (heapUsed + external) / 1e6;
}

const daysAgo = (days: number): string => new Date(Date.now() - days * DAY_MS).toISOString().slice(0, 10);
