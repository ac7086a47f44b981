/** Whether work grows with its input as it should, whatever else the machine does meanwhile. */

/** Many times what linear work takes in these tests, and a fraction of what quadratic work would. */
export const LINEAR_MS = 3000;

/** What short work may seem to take more than it does: see `cpuMs`. */
export const STEPS_MS = 20;

/** CPU time of this thread, which some systems count in steps of 10 ms. */
export function cpuMs(work: () => unknown): number {
  const before = process.threadCpuUsage();
  work();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1000;
}
