// Memory of a process as the kernel accounts for it.
import { readFileSync } from 'node:fs';

/** Resident memory in kB; undefined where there is no /proc. */
export function rssOf(pid: number): number | undefined {
  try {
    return Number(/VmRSS:\s*(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
  } catch {
    return undefined;
  }
}
