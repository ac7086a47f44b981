/** What is broken on purpose, one thing after the other, with time between in which nothing may fail. */

import { setTimeout as sleep } from 'node:timers/promises';
import type { SoakRandom } from './soak-random.js';
import type { Program } from './program.js';
import { TIMEOUT_MS, SOAK_FAULTS, type SoakUpstream } from './soak-upstream.js';
import type { Disturbance, Windows } from './windows.js';

const QUIET_MS = [5000, 9000] as const;
const FAULT_MS = [2000, 6000] as const;
const OUTAGE_MS = [1000, 6000] as const;
/** Until what was broken is as it was: connections are made anew, settlements caught up with. */
const GRACE_MS: Readonly<Record<Disturbance, number>> = {
  upstream: TIMEOUT_MS,
  database: 5000,
  restart: 1000,
  redis: 0,
};

/** In this order again and again; the program is started anew once, when a quarter of the time is over. */
const ROUND: readonly Disturbance[] = ['upstream', 'redis', 'database', 'upstream', 'upstream'];

export interface DisturbanceTargets {
  readonly program: Program;
  readonly upstream: SoakUpstream;
  readonly windows: Windows;
  readonly chance: SoakRandom;
  readonly say: (line: string) => void;
}

/** Until the time is over. @returns what went wrong with the breaking itself */
export async function disturb(breakable: DisturbanceTargets, forMs: number): Promise<readonly string[]> {
  const { chance } = breakable;
  const begunMs = performance.now();
  const passedMs = (): number => performance.now() - begunMs;
  const problems: string[] = [];
  let restarted = false;
  let turn = 0;
  for (;;) {
    await sleep(Math.min(chance.between(...QUIET_MS), Math.max(0, forMs - passedMs())));
    if (passedMs() > forMs - QUIET_MS[1]) break;
    const isTime: boolean = !restarted && passedMs() > forMs / 4;
    restarted ||= isTime;
    const next = isTime ? 'restart' : (ROUND[turn++ % ROUND.length] ?? 'upstream');
    const problem = await disturbance(breakable, next);
    if (problem !== undefined) problems.push(problem);
  }
  await sleep(Math.max(0, forMs - passedMs()));
  return problems;
}

async function disturbance(breakable: DisturbanceTargets, what: Disturbance): Promise<string | undefined> {
  const { windows, chance, say } = breakable;
  const fault = chance.of(SOAK_FAULTS);
  const forMs = what === 'upstream' ? chance.between(...FAULT_MS) : chance.between(...OUTAGE_MS);
  const detail = what === 'upstream' ? fault.name : '';
  const close = windows.open(what, detail, GRACE_MS[what]);
  const begunMs = performance.now();
  try {
    await BREAKING[what](breakable, forMs, fault);
    return undefined;
  } catch (error) {
    return `${what}: ${String(error)}`;
  } finally {
    close();
    say(`${what}${detail === '' ? '' : `: ${detail}`} (${((performance.now() - begunMs) / 1000).toFixed(1)} s)`);
  }
}

type DisturbanceRunner = (
  breakable: DisturbanceTargets,
  forMs: number,
  fault: (typeof SOAK_FAULTS)[number],
) => Promise<void>;

const BREAKING: Readonly<Record<Disturbance, DisturbanceRunner>> = {
  async upstream({ upstream }, forMs, fault) {
    upstream.fault = fault;
    await sleep(forMs);
    upstream.fault = undefined;
  },
  async redis({ program }, forMs) {
    await program.redis.stop();
    await sleep(forMs);
    await program.redis.resume();
  },
  database: ({ program }, forMs) => program.loseDatabase(forMs),
  async restart({ program }) {
    const code = await program.restart();
    if (code !== 0) throw new Error(`It ended with ${code}.`);
  },
};
