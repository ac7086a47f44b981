/** Whether work grows with its input as it should, told so that a slow machine with other things to do does not matter. */

/** Many times what linear work takes in these tests, and a fraction of what quadratic work would. */
export const LINEAR_MS = 3000;

export function elapsedMs(work: () => unknown): number {
  const begun = performance.now();
  work();
  return performance.now() - begun;
}

/** The least of several times: whatever else the machine does adds to them and takes nothing away. */
export const leastMs = (work: () => unknown): number => Math.min(...Array.from({ length: 5 }, () => elapsedMs(work)));
