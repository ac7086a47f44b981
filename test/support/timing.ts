/** Whether work grows with its input as it should, whatever else the machine does meanwhile. */

/** Many times what linear work takes in these tests, and a fraction of what quadratic work would. */
export const LINEAR_MS = 3000;

/** CPU time of this thread. */
export function cpuMs(work: () => unknown): number {
  const before = process.threadCpuUsage();
  work();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1000;
}

/** The minimum of several runs: garbage collection adds to some of them. */
export const minCpuMs = (work: () => unknown): number => Math.min(...Array.from({ length: 5 }, () => cpuMs(work)));
