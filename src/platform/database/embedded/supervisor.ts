import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { monotonicMs } from '../../shared/index.js';
import { DatabaseUnusable } from '../database.errors.js';
import { findBinaries, type Binaries } from './binaries.js';
import { checkVersion, createCluster, newPassword, resetPassword, SUPERUSER } from './cluster.js';
import { findPlace, holdsCluster, isOutside } from './place.js';
import { freePort } from './ports.js';
import { disownPostmaster, isServing, readPostmaster, type PostmasterFile } from './postmaster-file.js';
import { serverUser } from './run-as.js';
import { launchServer, ServerDidNotStart, stopServer } from './server-process.js';
import { withLock } from './start-lock.js';
import { readState, writeState, type ServerState } from './state-file.js';

/** A server that accepts connections. */
export interface RunningServer {
  readonly url: string;
  readonly place: string;
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
    const place = findPlace(this.dataDir, recorded?.place, this.user);
    const serving = await this.readyServer(place);
    if (serving !== undefined) return this.adopt(place, serving, recorded);
    this.binaries ??= findBinaries(this.user, this.log);
    const password = this.prepareCluster(place, recorded, this.binaries);
    const wanted = port ?? recorded?.port ?? (await freePort());
    // Before it runs: a process that adopts it after our exit needs its password.
    writeState(this.dataDir, { place, port: wanted, password, pid: null });
    const launched = await this.launch(place, wanted, this.binaries, port !== undefined);
    return this.record({ place, password, ...launched });
  }

  async stop(): Promise<void> {
    const state = readState(this.dataDir);
    const serving = state && servingIn(state.place);
    if (state === undefined || serving === undefined) return;
    await stopServer(serving.pid);
    writeState(this.dataDir, { ...state, pid: null });
  }

  /** True if another process asked the server to stop: it accepts no new sessions. */
  isStopping({ place }: RunningServer): boolean {
    return servingIn(place)?.status === 'stopping';
  }

  /** Stops such a server immediately. */
  async hurry({ place }: RunningServer): Promise<void> {
    const serving = servingIn(place);
    if (serving?.status === 'stopping') await stopServer(serving.pid);
  }

  /** The running server once it has started; a stopping one is stopped first. */
  private async readyServer(place: string): Promise<PostmasterFile | undefined> {
    for (;;) {
      const serving = servingIn(place);
      if (serving === undefined || serving.status === 'ready') return serving;
      if (serving.status === 'stopping') await stopServer(serving.pid);
      else await sleep(READY_POLL_MS);
    }
  }

  private adopt(place: string, { pid, port }: PostmasterFile, recorded: ServerState | undefined): RunningServer {
    if (recorded === undefined)
      throw new DatabaseUnusable(
        `An embedded database is running in ${place}, but postgres.json with its password is missing. Stop it (kill -INT ${pid}) and start again.`,
      );
    return this.record({ place, port, pid, password: recorded.password });
  }

  /** Creates the data directory if missing. Returns the server's password. */
  private prepareCluster(place: string, recorded: ServerState | undefined, binaries: Binaries): string {
    if (holdsCluster(place)) {
      checkVersion(place, binaries);
      if (recorded !== undefined) return recorded.password;
      const password = newPassword();
      disownPostmaster(place);
      resetPassword(place, password, binaries, this.user);
      return password;
    }
    if (recorded !== undefined)
      throw new DatabaseUnusable(
        `The embedded database in ${recorded.place} is missing. Restore it, or delete postgres.json from DATA_DIR to start with an empty one.`,
      );
    if (isOutside(place))
      this.log(
        `The embedded database is stored in ${place} because its user ${this.user.name} cannot access DATA_DIR.`,
      );
    const password = newPassword();
    createCluster(place, password, binaries, this.user);
    return password;
  }

  private async launch(
    place: string,
    wanted: number,
    binaries: Binaries,
    fixed: boolean,
  ): Promise<{ pid: number; port: number }> {
    const logFile = join(this.dataDir, 'postgres.log');
    const deadline = monotonicMs() + TIMEOUT_MS;
    for (let port = wanted; ;) {
      disownPostmaster(place);
      try {
        return { port, pid: await launchServer({ place, port, logFile, binaries, user: this.user }) };
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
    const { place, port, pid, password } = state;
    return { place, port, pid, url: `postgres://${SUPERUSER}:${password}@127.0.0.1:${port}/postgres` };
  }
}

function servingIn(place: string): PostmasterFile | undefined {
  const found = readPostmaster(place);
  return found !== undefined && isServing(found, place) ? found : undefined;
}
