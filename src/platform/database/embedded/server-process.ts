import { spawn } from 'node:child_process';
import { closeSync, constants, fstatSync, ftruncateSync, openSync, readFileSync, readSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { codeOf, monotonicMs, reasonOf } from '../../shared/index.js';
import { DatabaseUnusable } from '../database.errors.js';
import { commandLine, processIdentity } from '../process-identity.js';
import type { Binaries } from './binaries.js';
import { spawnOptions, type SystemUser } from './run-as.js';

/** The log is truncated at a start that finds it larger. */
const MAX_LOG_BYTES = 4 * 1024 * 1024;
/** Crash recovery replays up to `max_wal_size`. */
const START_MS = 120_000;
const STOP_MS = 60_000;
const POLL_MS = 20;

const SETTINGS: Readonly<Record<string, string>> = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  password_encryption: 'scram-sha-256',
  max_connections: '200',
  shared_buffers: '128MB',
  max_wal_size: '1GB',
  timezone: 'UTC',
  log_timezone: 'UTC',
  // Statements and rows must not be logged.
  log_min_error_statement: 'panic',
  log_error_verbosity: 'terse',
};

interface ServerLaunch {
  readonly directory: string;
  readonly port: number;
  readonly logFile: string;
  readonly binaries: Binaries;
  readonly user: SystemUser;
}

/** A failed start, with the server's last message. */
export class ServerDidNotStart extends DatabaseUnusable {
  constructor(
    readonly complaint: string,
    logFile: string,
  ) {
    super(`The embedded database did not start: ${complaint} (see ${logFile}).`);
  }

  get portIsTaken(): boolean {
    return /could not create any TCP\/IP sockets/.test(this.complaint);
  }

  /** Backends of a killed server live on briefly, and PostgreSQL does not wait for them. */
  get orphansAreLeaving(): boolean {
    return /shared memory block|lock file/.test(this.complaint);
  }
}

/**
 * Starts a server in its own session, so that neither our exit nor terminal signals reach it. Resolves with its pid
 * once it accepts connections.
 * @throws ServerDidNotStart
 */
export async function launchServer(launch: ServerLaunch): Promise<number> {
  const { logFile, directory, port, binaries, user } = launch;
  const log = openLog(logFile);
  const settings = Object.entries({ ...SETTINGS, port: String(port) }).flatMap(([name, value]) => [
    '-c',
    `${name}=${value}`,
  ]);
  const child = spawn(binaries.postgres, ['-D', directory, ...settings], {
    ...spawnOptions(user),
    detached: true,
    stdio: ['ignore', log.descriptor, log.descriptor],
  });
  let ended: string | undefined;
  child.once('error', (error) => (ended = reasonOf(error)));
  child.once('exit', (code, signal) => (ended = `it ended with ${signal ?? `exit code ${code}`}`));
  child.unref();
  try {
    for (const deadline = monotonicMs() + START_MS; monotonicMs() < deadline; await sleep(POLL_MS)) {
      if (ended !== undefined) throw new ServerDidNotStart(log.complaint() || ended, logFile);
      const found = readPostmaster(directory);
      if (found !== undefined && found.pid === child.pid && found.status === 'ready') return found.pid;
    }
    throw new ServerDidNotStart(`it was not ready after ${START_MS / 1000} s`, logFile);
  } finally {
    log.close();
  }
}

/** Fast shutdown: running transactions are rolled back. Resolves when the server has exited. */
export async function stopServer(pid: number): Promise<void> {
  const identity = processIdentity(pid);
  if (identity === undefined) return;
  process.kill(pid, 'SIGINT');
  for (const deadline = monotonicMs() + STOP_MS; monotonicMs() < deadline; await sleep(POLL_MS))
    if (processIdentity(pid) !== identity) return;
  throw new DatabaseUnusable(`The embedded database (pid ${pid}) did not stop within ${STOP_MS / 1000} s.`);
}

interface ServerLog {
  readonly descriptor: number;
  /** The last error logged since the log was opened. */
  complaint(): string | undefined;
  close(): void;
}

function openLog(file: string): ServerLog {
  const descriptor = openSync(file, 'a+', 0o600);
  if (fstatSync(descriptor).size > MAX_LOG_BYTES) ftruncateSync(descriptor);
  const start = fstatSync(descriptor).size;
  return {
    descriptor,
    complaint: () => {
      const text = Buffer.alloc(Math.min(fstatSync(descriptor).size - start, 64 * 1024));
      readSync(descriptor, text, 0, text.length, start);
      const lines = text.toString().trim().split('\n');
      return (
        lines.findLast((line) => /\b(FATAL|PANIC): /.test(line))?.replace(/^.*?(FATAL|PANIC): +/, '') ?? lines.at(-1)
      );
    },
    close: () => closeSync(descriptor),
  };
}

/** The record of a running server in its data directory. */
export interface PostmasterFile {
  readonly pid: number;
  readonly port: number;
  /** `starting` until crash recovery is done; `ready` accepts connections; `stopping` accepts no new ones. */
  readonly status: string;
}

const fileIn = (directory: string): string => join(directory, 'postmaster.pid');

/** `postmaster.pid`, eight lines: pid, data directory, start, port, socket folder, address, shared memory, status. */
export function readPostmaster(directory: string): PostmasterFile | undefined {
  try {
    const lines = readFileSync(fileIn(directory), 'utf8').split('\n');
    const [pid, port] = [Number(lines[0]), Number(lines[3])];
    return Number.isSafeInteger(pid) && pid > 0 ? { pid, port, status: lines[7]?.trim() ?? 'starting' } : undefined;
  } catch {
    return undefined;
  }
}

/** Whether the process is the server of this data directory, not a zombie or another process with the same pid. */
export function isServing({ pid }: PostmasterFile, directory: string): boolean {
  return processIdentity(pid) !== undefined && (commandLine(pid)?.includes(` -D ${directory} `) ?? false);
}

/** A pid that no process can have. */
const NOBODY = '2147483646';

/**
 * Neutralizes the pid file of a dead server. PostgreSQL refuses to start while a process has that pid, even a zombie or
 * an unrelated one. The file must stay: from its shared memory line PostgreSQL finds orphans of the old server that
 * still write.
 */
export function disownPostmaster(directory: string): void {
  const found = readPostmaster(directory);
  if (found === undefined || !answers(found.pid)) return;
  const file = openSync(fileIn(directory), constants.O_RDWR | constants.O_NOFOLLOW);
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
