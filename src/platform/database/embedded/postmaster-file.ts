import { closeSync, constants, openSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { codeOf } from '../../shared/index.js';
import { commandLine, processIdentity } from '../process-identity.js';

/** What a running server records in its data directory. */
export interface PostmasterFile {
  readonly pid: number;
  readonly port: number;
  /** `starting` until crash recovery is done; `ready` accepts connections; `stopping` accepts no new ones. */
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

/** Whether the process is the server of this data directory, not a zombie or another process with the same pid. */
export function isServing({ pid }: PostmasterFile, place: string): boolean {
  return processIdentity(pid) !== undefined && (commandLine(pid)?.includes(` -D ${place} `) ?? false);
}

/** A pid that no process can have. */
const NOBODY = '2147483646';

/**
 * Neutralizes the pid file of a dead server. PostgreSQL refuses to start while a process has that pid, even a zombie or
 * an unrelated one. The file must stay: from its shared memory line PostgreSQL finds orphans of the old server that
 * still write.
 */
export function disownPostmaster(place: string): void {
  const found = readPostmaster(place);
  if (found === undefined || !answers(found.pid)) return;
  const file = openSync(fileIn(place), constants.O_RDWR | constants.O_NOFOLLOW);
  try {
    const rest = readFileSync(file, 'utf8').split('\n').slice(1);
    // Longer than the old pid, so that nothing of the old text remains.
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
