import { accessSync, constants, mkdirSync, realpathSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { codeOf, monotonicMs, reasonOf } from '../../shared/index.js';
import { DatabaseUnusable } from '../database.errors.js';
import { Keeper } from './keeper.js';
import { Supervisor, type RunningServer } from './supervisor.js';

interface EmbeddedOptions {
  /** Absolute; made when missing. */
  readonly dataDir: string;
  readonly log: (line: string) => void;
}

/** The embedded server as one process uses it: it runs until the last user has released it. */
export interface EmbeddedServer {
  /** Holds the password: never log it. */
  readonly url: string;
  /** Stops the server if nobody else uses it. Close every connection of this process first. Never rejects. */
  release(): Promise<void>;
}

/** How often a server is looked at that was perhaps asked to stop. */
const LOOK_MS = 1000;

const FIRST_RETRY_MS = 200;
const LAST_RETRY_MS = 10_000;

/** How long a server that is there may refuse to be used: it starts anew when one of its processes was killed. */
const RECOVERY_MS = 60_000;
const RECOVERY_POLL_MS = 50;

/** PostgreSQL's error codes. */
const WRONG_PASSWORD = '28P01';
/** Of a server that goes down or comes up, and of a connection that broke; the driver's own words for that have no code. */
const PASSING = /^(?:57P0[123]|ECONNREFUSED|ECONNRESET|EPIPE|)$/;

/**
 * Starts the embedded server of this DATA_DIR, or adopts the one that runs, and keeps it running: when it dies, it is
 * started again on the same port. It survives this process's being killed, to be adopted by the next.
 * @throws DatabaseUnusable one line that says what to do
 */
export async function startEmbedded(options: EmbeddedOptions): Promise<EmbeddedServer> {
  try {
    const supervisor = new Supervisor(prepare(options.dataDir), options.log);
    const user = new EmbeddedUser(supervisor, options.log);
    await user.begin();
    return user;
  } catch (error) {
    if (error instanceof DatabaseUnusable) throw error;
    throw new DatabaseUnusable(
      `Cannot start the embedded database: ${reasonOf(error)}. Set DATABASE_URL to use another server.`,
      error,
    );
  }
}

/** The real path, so that one installation has one name whatever links lead to it. */
function prepare(dataDir: string): string {
  try {
    // With the default mode: the server's user must be able to pass.
    mkdirSync(dataDir, { recursive: true });
    accessSync(dataDir, constants.W_OK | constants.X_OK);
    return realpathSync(dataDir);
  } catch (error) {
    throw new DatabaseUnusable(
      `DATA_DIR (${dataDir}) must be a directory writable by this user: ${reasonOf(error)}.`,
      error,
    );
  }
}

class EmbeddedUser implements EmbeddedServer {
  private keeper: Keeper | undefined;
  private server: RunningServer | undefined;
  private reviving: Promise<void> | undefined;
  private looking: NodeJS.Timeout | undefined;
  private hurrying = false;
  private readonly released = new AbortController();

  constructor(
    private readonly supervisor: Supervisor,
    private readonly log: (line: string) => void,
  ) {}

  get url(): string {
    if (this.server === undefined) throw new TypeError('The embedded database is not running.');
    return this.server.url;
  }

  async begin(): Promise<void> {
    await this.supervisor.exclusively(async () => {
      const { server, keeper } = await this.join();
      this.keeper = keeper;
      if (this.server !== undefined && server.port !== this.server.port)
        this.log('The embedded database moved to another port. Restart this process.');
      this.server ??= server;
    });
    this.looking ??= setInterval(() => void this.look(), LOOK_MS).unref();
  }

  /** A server may be on its way down, or recovering, when it is found: then it is looked for again. */
  private async join(): Promise<{ server: RunningServer; keeper: Keeper }> {
    for (const deadline = monotonicMs() + RECOVERY_MS; ; await sleep(RECOVERY_POLL_MS)) {
      const server = await this.supervisor.ensureRunning(this.server?.port);
      try {
        return { server, keeper: await connectKeeper(server, () => this.lost()) };
      } catch (error) {
        if (error instanceof DatabaseUnusable || !PASSING.test(codeOf(error)) || monotonicMs() > deadline) throw error;
      }
    }
  }

  async release(): Promise<void> {
    if (this.released.signal.aborted) return;
    this.released.abort();
    clearInterval(this.looking);
    try {
      await this.reviving;
      await this.supervisor.exclusively(() => this.leave());
    } catch (error) {
      this.log(`The embedded database was left running: ${reasonOf(error)}`);
    } finally {
      await this.keeper?.close();
    }
  }

  /** Under the lock: of two that leave at once, the second sees that the first is gone. */
  private async leave(): Promise<void> {
    if (this.keeper === undefined) return;
    const last = await this.keeper.isLastUser();
    await this.keeper.close();
    if (last) await this.supervisor.stop();
  }

  /**
   * A server that was asked to stop by SIGTERM takes no new sessions, and ends when those that it has end, ours among
   * them: it would serve nobody new, without end. So it is told to end its sessions and stop at once; the keeper sees
   * that it has gone, as with any other end, and it is started again.
   */
  private async look(): Promise<void> {
    if (this.server === undefined || this.hurrying || !this.supervisor.isStopping(this.server)) return;
    this.hurrying = true;
    this.log('Stopping the embedded database.');
    const server = this.server;
    await this.supervisor
      .exclusively(() => this.supervisor.hurry(server))
      .catch((error: unknown) => this.log(`Cannot stop the embedded database: ${reasonOf(error)}`));
    this.hurrying = false;
  }

  private lost(): void {
    this.keeper = undefined;
    if (this.released.signal.aborted) return;
    this.log('The embedded database exited; restarting it.');
    this.reviving = this.revive();
  }

  private async revive(): Promise<void> {
    for (let waitMs = FIRST_RETRY_MS; !this.released.signal.aborted; waitMs = Math.min(waitMs * 2, LAST_RETRY_MS)) {
      try {
        return await this.begin();
      } catch (error) {
        this.log(`Failed to restart the embedded database: ${reasonOf(error)}`);
        await sleep(waitMs, undefined, { signal: this.released.signal, ref: false }).catch(() => undefined);
      }
    }
  }
}

async function connectKeeper({ url, place, pid }: RunningServer, lost: () => void): Promise<Keeper> {
  try {
    return await Keeper.connect(url, lost);
  } catch (error) {
    if (codeOf(error) !== WRONG_PASSWORD) throw error;
    throw new DatabaseUnusable(
      `The password in postgres.json does not match the embedded database in ${place}. Stop it (kill -INT ${pid}), delete postgres.json, and start again.`,
      error,
    );
  }
}
