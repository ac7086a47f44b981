// Waits until a program has nothing to do.
import { setTimeout as sleep } from 'node:timers/promises';
import { cpuOfTree } from './cpu.ts';

const LOOK_MS = 5000;
/** Of one core. */
const IDLE_PERCENT = 5;

interface PausableTimeout {
  /** It must have had nothing to do for so long: what it does every minute is seen then. */
  readonly quietMs: number;
  readonly withinMs: number;
}

/** @returns whether it came to that; nothing is known of it without /proc */
export async function untilIdle(pid: number, { quietMs, withinMs }: PausableTimeout): Promise<boolean> {
  const deadline = performance.now() + withinMs;
  let before = cpuOfTree(pid);
  for (let quiet = 0; quiet < quietMs;) {
    if (before === undefined || performance.now() > deadline) return false;
    await sleep(LOOK_MS);
    const after = cpuOfTree(pid) ?? Number.NaN;
    quiet = after - before < LOOK_MS * 10 * IDLE_PERCENT ? quiet + LOOK_MS : 0;
    before = after;
  }
  return true;
}
