// The load generator: a process of its own that does one job at a time, told and answered over its channel.
import { protocolOf } from '../work/protocols.ts';
import { Caller } from './caller.ts';
import { SlowReader } from '../../test/support/slow-reader.ts';
import type { HoldJob, Job, Report, SlowReadersJob, Target } from './jobs.ts';
import { sendUnknownKeys } from './unknown-keys.ts';
import { Tally } from './tally.ts';
import { makeCalls, pacedStreams } from './work.ts';

/** Connections stay open between jobs, as those of real clients do. */
const callers = new Map<string, Caller>();
let readers: readonly SlowReader[] = [];

function callerFor(target: Target): Caller {
  const known = callers.get(target.origin) ?? new Caller(target);
  callers.set(target.origin, known);
  return known;
}

async function carryOut(job: Job): Promise<Report> {
  switch (job.kind) {
    case 'calls':
      return makeCalls(callerFor(job.target), job);
    case 'paced':
      if (job.connections !== undefined) await release();
      return pacedStreams(callerFor(job.target), job);
    case 'unknown-keys':
      return sendUnknownKeys(callerFor(job.target), job);
    case 'hold':
      return hold(job);
    case 'slow-readers':
      return readSlowly(job);
    case 'release':
      return release();
    default:
      return job satisfies never;
  }
}

async function hold({ target, streams }: HoldJob): Promise<Report> {
  const caller = callerFor(target);
  const body = caller.body('idle', 900);
  const tally = new Tally();
  const open = async (): Promise<void> => tally.add(await caller.open('idle', body));
  await Promise.all(Array.from({ length: streams }, open));
  return tally.report();
}

async function readSlowly({ target, clients, bytesPerSecond }: SlowReadersJob): Promise<Report> {
  const protocol = protocolOf(target.protocol);
  const body = protocol.request('flood', 900);
  const url = `${target.origin}/v1${protocol.path}`;
  const headers = { 'content-type': 'application/json', ...target.headers };
  readers = Array.from({ length: clients }, () => new SlowReader({ url, headers, body, bytesPerSecond }));
  await Promise.all(readers.map((reader) => reader.begun));
  return new Tally().report();
}

/** Says how many of the slow readers had been cut off before: they count as failed. */
async function release(): Promise<Report> {
  const cutOff = readers.filter((reader) => !reader.open).length;
  for (const reader of readers) reader.close();
  readers = [];
  await Promise.all([...callers.values()].map((caller) => caller.close()));
  callers.clear();
  return { ...new Tally().report(), failed: cutOff };
}

process.on('message', (job: Job) => {
  carryOut(job).then(
    (report) => process.send?.(report),
    (error: unknown) => process.send?.({ error: String(error) }),
  );
});
process.once('disconnect', () => process.exit());
process.send?.('ready');
