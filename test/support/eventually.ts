import { setTimeout as sleep } from 'node:timers/promises';

/** How long real processes may take on a slow machine with other things to do. */
export const TIMEOUT_MS = 60_000;

/** Repeats an expectation until it holds, and gives what it returned; fails with its last complaint after `withinMs`. */
export async function eventually<Result>(
  expectation: () => Result | Promise<Result>,
  withinMs = 20_000,
): Promise<Result> {
  for (const deadline = performance.now() + withinMs; ; await sleep(10)) {
    try {
      return await expectation();
    } catch (error) {
      if (performance.now() > deadline) throw error;
    }
  }
}
