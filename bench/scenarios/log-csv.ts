// The log as CSV: how long it takes, whether all is in it, and what the server needs for it beyond what it had.
import type { Visitor } from '../load/visitor.ts';
import { rssOf } from '../machine/memory.ts';
import type { Figures } from '../report/figures.ts';
import type { Line } from '../report/result.ts';
import type { RelaySubject } from '../subjects/relay.ts';
import { known } from './segment.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const LOOK_MS = 10;
const NEW_LINE = 10;

/** A tenth of it first: what the whole adds to that is what grows with it. */
export async function csvLines(user: Visitor, relay: RelaySubject, days: number): Promise<readonly Line[]> {
  const lines: Line[] = [];
  for (const [subject, first, last] of [
    ['CSV of a tenth', days / 10 + 1, 2],
    ['CSV of all', days + 1, 0],
  ] as const)
    lines.push({ subject, figures: await csv(user, relay, `from=${daysAgo(first)}&to=${daysAgo(last)}`), rounds: [] });
  return lines;
}

async function csv(user: Visitor, { pid = 0 }: RelaySubject, range: string): Promise<Figures> {
  const rss = (): number => (rssOf(pid) ?? Number.NaN) / 1024;
  const before = rss();
  let most = before;
  const timer = setInterval(() => (most = Math.max(most, rss())), LOOK_MS);
  let [bytes, lines] = [0, 0];
  try {
    const { status, lastMs } = await user.take(`/usage-logs/common.csv?range=custom&${range}`, (piece) => {
      bytes += piece.length;
      for (let at = piece.indexOf(NEW_LINE); at >= 0; at = piece.indexOf(NEW_LINE, at + 1)) lines++;
    });
    if (status !== 200) throw new Error(`The CSV was answered with ${status}.`);
    // Its first line is the header.
    return known({ rows: lines - 1, seconds: lastMs / 1000, mb: bytes / 1e6, growth_mb: most - before });
  } finally {
    clearInterval(timer);
  }
}

const daysAgo = (days: number): string => new Date(Date.now() - days * DAY_MS).toISOString().slice(0, 10);
