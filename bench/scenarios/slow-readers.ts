// Clients that take 1 kB a second of what an upstream would send at once: what is kept for them, and where.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Line, ScenarioResult } from '../report/result.ts';
import type { Stage } from '../stage.ts';
import { FLOOD_BYTES } from '../work/behaviours.ts';
import { probed } from './probed.ts';
import { known } from './segment.ts';

const CLIENTS = 50;
const BYTES_PER_SECOND = 1000;
/** By then every buffer on the way is full. */
const FILL_MS = 5000;
const WATCH_MS = 2000;
const MIB = 1024 * 1024;

export async function slowReaders(stage: Stage): Promise<ScenarioResult> {
  const { quick } = stage.options;
  const clients = quick ? CLIENTS / 5 : CLIENTS;
  const notes: string[] = [];
  const lines = await probed(stage, async (subject, memory): Promise<Line> => {
    const { name, target } = subject;
    // Streams that are read as they come: what the work as such takes is no growth.
    await stage.load.do({ kind: 'calls', target, behaviour: 'fast', promptBytes: 900, inFlight: clients, forMs: 1000 });
    const before = await memory();
    await stage.load.do({ kind: 'slow-readers', target, clients, bytesPerSecond: BYTES_PER_SECOND });
    await sleep(quick ? FILL_MS / 5 : FILL_MS);
    const full = await floods(stage);
    await sleep(WATCH_MS);
    const [after, later] = [await memory(), await floods(stage)];
    if (later.open < clients) notes.push(`${name}: the upstream had only ${later.open} of ${clients} streams open.`);
    const { failed: cutOff } = await stage.load.do({ kind: 'release' });
    if (cutOff > 0) notes.push(`${name}: ${cutOff} of ${clients} clients were cut off.`);
    const figures = known({
      mb_per_client: (after.rss - before.rss) / MIB / clients,
      written_mb_per_client: later.total / clients / MIB,
      still_writing_kb: (later.total - full.total) / clients / 1024 / (WATCH_MS / 1000),
    });
    return { subject: name, figures, rounds: [] };
  });
  const title = `${clients} clients that read 1 kB/s of ${FLOOD_BYTES / 1e6} MB`;
  return { name: 'slow-readers', title, lines, notes };
}

/** What the upstream could write of the floods that are under way. */
async function floods({ surroundings: { upstream } }: Stage): Promise<{ open: number; total: number }> {
  return (await (await fetch(`${upstream}/floods`)).json()) as { open: number; total: number };
}
