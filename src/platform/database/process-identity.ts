import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/**
 * Distinguishes a process from a later one with the same pid: constant for its lifetime. On Linux its start in clock
 * ticks since boot, elsewhere its start in seconds. Undefined if no such process lives here; a zombie counts as dead.
 */
export function processIdentity(pid: number): string | undefined {
  if (!Number.isSafeInteger(pid) || pid <= 0) return undefined;
  return process.platform === 'linux' ? fromProc(pid) : fromPs(pid);
}

/** `/proc/<pid>/stat`: the name in parentheses may contain anything, so fields are counted after the last one. */
function fromProc(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields[0] === 'Z' || fields[0] === 'X' ? undefined : fields[19];
  } catch {
    return undefined;
  }
}

function fromPs(pid: number): string | undefined {
  try {
    const [state, ...start] = ps(pid, 'state=,lstart=').split(/\s+/);
    return state === undefined || state === '' || state.startsWith('Z') ? undefined : start.join(' ');
  } catch {
    return undefined;
  }
}

/** The command line of a living process, joined by spaces; undefined if there is none. */
export function commandLine(pid: number): string | undefined {
  try {
    if (process.platform === 'linux') return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
    return ps(pid, 'args=');
  } catch {
    return undefined;
  }
}

const ps = (pid: number, columns: string): string =>
  execFileSync('ps', ['-o', columns, '-p', String(pid)], {
    encoding: 'utf8',
    env: { LC_ALL: 'C', TZ: 'UTC', PATH: '/usr/bin:/bin' },
    stdio: ['ignore', 'pipe', 'ignore'],
  }).trim();
