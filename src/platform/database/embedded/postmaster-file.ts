import { closeSync, constants, openSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { codeOf } from '../../shared/index.js';
import { commandLine, processIdentity } from '../process-identity.js';

/** What a running server says of itself in its data directory. */
export interface PostmasterFile {
  readonly pid: number;
  readonly port: number;
  /** `starting` until recovery after a crash is done; then `ready`, it takes connections; `stopping` takes no new ones. */
  readonly status: string;
}

const fileIn = (place: string): string => join(place, 'postmaster.pid');

/** `postmaster.pid`, eight lines: pid, data directory, start, port, socket folder, address, shared memory, status. */
export function readPostmaster(place: string): PostmasterFile | undefined {
  try {
    const lines = readFileSync(fileIn(place), 'utf8').split('\n');
    const [pid, port] = [Number(lines[0]), Number(lines[3])];
    return Number.isSafeInteger(pid) && pid > 0 ? { pid, port, status: lines[7]?.trim() ?? 'starting' } : undefined;
  } catch {
    return undefined;
  }
}

/** Whether that process is the server of this data directory, and not a zombie or a stranger with the same number. */
export function isServing({ pid }: PostmasterFile, place: string): boolean {
  return processIdentity(pid) !== undefined && (commandLine(pid)?.includes(` -D ${place} `) ?? false);
}

/** No system gives a process this number. */
const NOBODY = '2147483646';

/**
 * Makes a file left by a server that is gone harmless. PostgreSQL refuses to start while the pid in it answers, be it a
 * zombie's or by now somebody else's. The file itself must stay: by its shared memory line PostgreSQL makes sure that
 * no orphan of the old server still writes.
 */
export function disownPostmaster(place: string): void {
  const found = readPostmaster(place);
  if (found === undefined || !answers(found.pid)) return;
  const file = openSync(fileIn(place), constants.O_RDWR | constants.O_NOFOLLOW);
  try {
    const rest = readFileSync(file, 'utf8').split('\n').slice(1);
    // Longer than what stood there, never shorter: nothing of the old text can be left over.
    writeSync(file, [NOBODY, ...rest].join('\n'), 0);
  } finally {
    closeSync(file);
  }
}

function answers(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return codeOf(error) === 'EPERM';
  }
}
