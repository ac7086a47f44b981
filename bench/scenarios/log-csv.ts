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

interface Csv {
  readonly figures: Figures;
  /** Resident memory at its highest. */
  readonly mostMb: number;
}

/** A tenth of it first. The growth of the whole is what it took beyond that at most: what grows with the log. */
export async function csvLines(user: Visitor, relay: RelaySubject, days: number): Promise<readonly Line[]> {
  const resting = residentMb(relay);
  const tenth = await csv(user, relay, `from=${daysAgo(days / 10 + 1)}&to=${daysAgo(2)}`);
  const all = await csv(user, relay, `from=${daysAgo(days + 1)}&to=${daysAgo(0)}`);
  const line = (subject: string, { figures, mostMb }: Csv, beforeMb: number): Line => ({
    subject,
    figures: known({ ...figures, growth_mb: mostMb - beforeMb }),
    rounds: [],
  });
  return [line('CSV of a tenth', tenth, resting), line('CSV of all', all, tenth.mostMb)];
}

async function csv(user: Visitor, relay: RelaySubject, range: string): Promise<Csv> {
  let mostMb = residentMb(relay);
  const timer = setInterval(() => (mostMb = Math.max(mostMb, residentMb(relay))), LOOK_MS);
  let [bytes, lines] = [0, 0];
  try {
    const { status, lastMs } = await user.take(`/usage-logs/common.csv?range=custom&${range}`, (piece) => {
      bytes += piece.length;
      for (let at = piece.indexOf(NEW_LINE); at >= 0; at = piece.indexOf(NEW_LINE, at + 1)) lines++;
    });
    if (status !== 200) throw new Error(`The CSV was answered with ${status}.`);
    // Its first line is the header.
    return { figures: { rows: lines - 1, seconds: lastMs / 1000, mb: bytes / 1e6 }, mostMb };
  } finally {
    clearInterval(timer);
  }
}

const residentMb = ({ pid = 0 }: RelaySubject): number => (rssOf(pid) ?? Number.NaN) / 1024;

const daysAgo = (days: number): string => new Date(Date.now() - days * DAY_MS).toISOString().slice(0, 10);
