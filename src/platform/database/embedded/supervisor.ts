import type { SpawnSyncReturns } from 'node:child_process';
import { randomBytes, randomInt } from 'node:crypto';
import {
  chownSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { basename, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { monotonicMs, reasonOf } from '../../shared/index.js';
import { DatabaseUnusable } from '../database.errors.js';
import { type Binaries, findBinaries } from './binaries.js';
import { findDataDirectory, hasCluster, isOutsideDataDir } from './data-directory.js';
import { runAs, serverUser, type SystemUser } from './run-as.js';
import {
  disownPostmaster,
  isServing,
  launchServer,
  type PostmasterFile,
  readPostmaster,
  ServerDidNotStart,
  stopServer,
} from './server-process.js';
import { withLock } from './start-lock.js';
import { readState, type ServerState, writeState } from './state-file.js';

/** A server that accepts connections. */
export interface RunningServer {
  readonly url: string;
  readonly directory: string;
  readonly pid: number;
  readonly port: number;
}

/** How long orphans of a killed server may take to exit, and a port to become free. */
const TIMEOUT_MS = 10_000;
const RETRY_MS = 200;
const READY_POLL_MS = 20;

/** Starts, adopts and stops the server of a DATA_DIR. All other methods must be called inside `exclusively`. */
export class Supervisor {
  private readonly user = serverUser();
  private binaries: Binaries | undefined;

  /** @param dataDir its real path */
  constructor(
    private readonly dataDir: string,
    private readonly log: (line: string) => void,
  ) {}

  /** Serializes starting, stopping and adopting among processes. */
  exclusively<Result>(work: () => Promise<Result>): Promise<Result> {
    return withLock(join(this.dataDir, 'postgres.lock'), work);
  }

  /** @param port required port, which connections of this process use; any if absent */
  async ensureRunning(port?: number): Promise<RunningServer> {
    const recorded = readState(this.dataDir);
    const directory = findDataDirectory(this.dataDir, recorded?.place, this.user);
    const serving = await this.readyServer(directory);
    if (serving !== undefined) return this.adopt(directory, serving, recorded);
    this.binaries ??= findBinaries(this.user, this.log);
    const password = this.prepareCluster(directory, recorded, this.binaries);
    const wanted = port ?? recorded?.port ?? (await freePort());
    // Before it runs: a process that adopts it after our exit needs its password.
    writeState(this.dataDir, { place: directory, port: wanted, password, pid: null });
    const launched = await this.launch(directory, wanted, this.binaries, port !== undefined);
    return this.record({ place: directory, password, ...launched });
  }

  async stop(): Promise<void> {
    const state = readState(this.dataDir);
    const serving = state && servingIn(state.place);
    if (state === undefined || serving === undefined) return;
    await stopServer(serving.pid);
    writeState(this.dataDir, { ...state, pid: null });
  }

  /** True if another process asked the server to stop: it accepts no new sessions. */
  isStopping({ directory }: RunningServer): boolean {
    return servingIn(directory)?.status === 'stopping';
  }

  /** Stops such a server immediately. */
  async forceStop({ directory }: RunningServer): Promise<void> {
    const serving = servingIn(directory);
    if (serving?.status === 'stopping') await stopServer(serving.pid);
  }

  /** The running server once it has started; a stopping one is stopped first. */
  private async readyServer(directory: string): Promise<PostmasterFile | undefined> {
    for (;;) {
      const serving = servingIn(directory);
      if (serving === undefined || serving.status === 'ready') return serving;
      if (serving.status === 'stopping') await stopServer(serving.pid);
      else await sleep(READY_POLL_MS);
    }
  }

  private adopt(directory: string, { pid, port }: PostmasterFile, recorded: ServerState | undefined): RunningServer {
    if (recorded === undefined)
      throw new DatabaseUnusable(
        `An embedded database is running in ${directory}, but postgres.json with its password is missing. Stop it (kill -INT ${pid}) and start again.`,
      );
    return this.record({ place: directory, port, pid, password: recorded.password });
  }

  /** Creates the data directory if missing. Returns the server's password. */
  private prepareCluster(directory: string, recorded: ServerState | undefined, binaries: Binaries): string {
    if (hasCluster(directory)) {
      checkVersion(directory, binaries);
      if (recorded !== undefined) return recorded.password;
      const password = newPassword();
      disownPostmaster(directory);
      resetPassword(directory, password, binaries, this.user);
      return password;
    }
    if (recorded !== undefined)
      throw new DatabaseUnusable(
        `The embedded database in ${recorded.place} is missing. Restore it, or delete postgres.json from DATA_DIR to start with an empty one.`,
      );
    if (isOutsideDataDir(directory))
      this.log(
        `The embedded database is stored in ${directory} because its user ${this.user.name} cannot access DATA_DIR.`,
      );
    const password = newPassword();
    createCluster(directory, password, binaries, this.user);
    return password;
  }

  private async launch(
    directory: string,
    wanted: number,
    binaries: Binaries,
    fixed: boolean,
  ): Promise<{ pid: number; port: number }> {
    const logFile = join(this.dataDir, 'postgres.log');
    const deadline = monotonicMs() + TIMEOUT_MS;
    for (let port = wanted; ;) {
      disownPostmaster(directory);
      try {
        return { port, pid: await launchServer({ directory, port, logFile, binaries, user: this.user }) };
      } catch (error) {
        if (!(error instanceof ServerDidNotStart) || monotonicMs() > deadline) throw error;
        if (!error.portIsTaken && !error.orphansAreLeaving) throw error;
        if (error.portIsTaken && !fixed) port = await freePort();
        else await sleep(RETRY_MS);
      }
    }
  }

  private record(state: ServerState & { readonly pid: number }): RunningServer {
    writeState(this.dataDir, state);
    const { place: directory, port, pid, password } = state;
    return { directory, port, pid, url: `postgres://${SUPERUSER}:${password}@127.0.0.1:${port}/postgres` };
  }
}

function servingIn(directory: string): PostmasterFile | undefined {
  const found = readPostmaster(directory);
  return found !== undefined && isServing(found, directory) ? found : undefined;
}

/** Below the ephemeral ports, so that the same port is likely free at the next start. */
const [FROM, TO] = [15_000, 30_000] as const;
const ATTEMPTS = 50;

/** A free port on the loopback interface. */
export async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const port = randomInt(FROM, TO);
    if (await isFree(port)) return port;
  }
  throw new Error(`No port between ${FROM} and ${TO} is free`);
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => server.close(() => resolve(true)));
  });
}

/** The owner of everything in the embedded server, and the name of its database. */
export const SUPERUSER = 'postgres';

export const newPassword = (): string => randomBytes(24).toString('base64url');

/**
 * Creates a data directory. It is built beside its path and moved when complete, so that an interrupted start leaves
 * nothing that looks like a database.
 */
export function createCluster(directory: string, password: string, binaries: Binaries, user: SystemUser): void {
  removeUnfinished(directory, user);
  const workshop = mkdtempSync(unfinishedPrefix(directory));
  try {
    const passwordFile = join(workshop, 'password');
    writeFileSync(passwordFile, `${password}\n`, { mode: 0o600 });
    if (user.switched) for (const path of [passwordFile, workshop]) chownSync(path, user.uid, user.gid);
    const data = join(workshop, 'data');
    const made = runAs(user, binaries.initdb, ['-D', data, '--pwfile', passwordFile, ...INITDB_OPTIONS]);
    if (made.status !== 0)
      throw new DatabaseUnusable(`Cannot create the embedded database in ${directory}: ${complaint(made)}.`);
    renameSync(data, directory);
  } finally {
    // Removes the temporary folder and leftovers of earlier starts.
    removeUnfinished(directory, user);
  }
}

/** Password authentication; UTF-8, ordered by code point, which is the same on every machine. */
const INITDB_OPTIONS = [
  `--username=${SUPERUSER}`,
  '--auth=scram-sha-256',
  '--encoding=UTF8',
  '--locale=C',
  '--locale-provider=builtin',
  '--builtin-locale=C.UTF-8',
];

/** @throws DatabaseUnusable when the data directory belongs to another major version */
export function checkVersion(directory: string, binaries: Binaries): void {
  const made = readFileSync(join(directory, 'PG_VERSION'), 'utf8').trim();
  if (made !== String(binaries.major))
    throw new DatabaseUnusable(
      `The embedded database in ${directory} was created by PostgreSQL ${made}; this version uses ${binaries.major}. Make a backup with the previous version of Switchboard and restore it into a new DATA_DIR.`,
    );
}

/** Sets a new superuser password on a stopped server whose password file was lost. */
export function resetPassword(directory: string, password: string, binaries: Binaries, user: SystemUser): void {
  const sql = `ALTER ROLE ${SUPERUSER} PASSWORD '${password}'\n`;
  const done = runAs(user, binaries.postgres, ['--single', '-D', directory, 'postgres'], sql);
  if (done.status !== 0)
    throw new DatabaseUnusable(
      `postgres.json is missing and the password of the embedded database in ${directory} could not be reset: ${complaint(done)}.`,
    );
}

const unfinishedPrefix = (directory: string): string => `${directory}-new-`;

function removeUnfinished(directory: string, user: SystemUser): void {
  const prefix = basename(unfinishedPrefix(directory));
  const mine = [process.getuid?.(), user.uid];
  for (const name of readdirSync(dirname(directory)).filter((entry) => entry.startsWith(prefix))) {
    const path = join(dirname(directory), name);
    if (mine.includes(lstatSync(path, { throwIfNoEntry: false })?.uid))
      rmSync(path, { recursive: true, force: true, maxRetries: 10 }); // an orphaned initdb may still be filling it
  }
}

const complaint = ({ error, stderr, status }: SpawnSyncReturns<string>): string =>
  error === undefined ? stderr.trim().split('\n').at(-1) || `exit ${status}` : reasonOf(error);
