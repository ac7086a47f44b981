// The jobs whose calls come to an end by themselves.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Caller } from './caller.ts';
import type { CallsJob, PacedJob, Report } from './jobs.ts';
import { Tally } from './tally.ts';

/** A target that refuses everything is not asked for ever. */
const ENOUGH_FAILURES = 50;

export async function makeCalls(
  caller: Caller,
  { behaviour, promptBytes, inFlight, forMs }: CallsJob,
): Promise<Report> {
  const body = caller.body(behaviour, promptBytes);
  const tally = new Tally();
  const deadline = performance.now() + forMs;
  const callOnAndOn = async (): Promise<void> => {
    while (performance.now() < deadline && tally.failures < ENOUGH_FAILURES)
      tally.add(await caller.call(behaviour, body));
  };
  await Promise.all(Array.from({ length: inFlight }, callOnAndOn));
  return tally.report();
}

export async function pacedStreams(caller: Caller, { streams, rampMs, connections = 0 }: PacedJob): Promise<Report> {
  const body = caller.body('paced', 900);
  const first = caller.body('answer', 900);
  await Promise.all(Array.from({ length: connections }, () => caller.call('answer', first)));
  const tally = new Tally();
  const stream = async (index: number): Promise<void> => {
    await sleep((index * rampMs) / streams);
    tally.add(await caller.call('paced', body));
  };
  await Promise.all(Array.from({ length: streams }, (_, index) => stream(index)));
  return tally.report();
}
