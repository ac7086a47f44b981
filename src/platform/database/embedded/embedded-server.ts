import pg from 'pg';
import { accessSync, constants, mkdirSync, realpathSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { codeOf, monotonicMs, reasonOf } from '../../shared/index.js';
import { APPLICATION_PREFIX, applicationName, withRole } from '../connection-url.js';
import { DatabaseUnusable } from '../database.errors.js';
import { type RunningServer, Supervisor } from './supervisor.js';

interface EmbeddedOptions {
  /** Absolute; created if missing. */
  readonly dataDir: string;
  readonly log: (line: string) => void;
}

/** The embedded server from the view of one process. It runs until its last user has released it. */
export interface EmbeddedServer {
  /** Includes the password: never log it. */
  readonly url: string;
  /** Stops the server unless another process uses it. Close all connections of this process first. Never rejects. */
  release(): Promise<void>;
}

/** Interval for checking whether the server was asked to stop. */
const CHECK_MS = 1000;

const FIRST_RETRY_MS = 200;
const LAST_RETRY_MS = 10_000;

/** How long a running server may refuse connections: it recovers after one of its processes was killed. */
const RECOVERY_MS = 60_000;
const RECOVERY_POLL_MS = 50;

/** PostgreSQL error code. */
const WRONG_PASSWORD = '28P01';
/** A server that stops or starts, and broken connections; the driver's own errors have no code. */
const PASSING = /^(?:57P0[123]|ECONNREFUSED|ECONNRESET|EPIPE|)$/;

/**
 * Starts or adopts the embedded server of a DATA_DIR, and restarts it on the same port if it dies. It survives a kill
 * of this process, and is adopted by the next one.
 * @throws DatabaseUnusable with a one-line instruction
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

/** Resolves links, so that an installation has one name. */
function prepare(dataDir: string): string {
  try {
    // Default mode: the server's user must be able to traverse it.
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
  private keepAlive: KeepAliveSession | undefined;
  private server: RunningServer | undefined;
  private reviving: Promise<void> | undefined;
  private checkTimer: NodeJS.Timeout | undefined;
  private isForcingStop = false;
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
      const { server, keepAlive } = await this.join();
      this.keepAlive = keepAlive;
      if (this.server !== undefined && server.port !== this.server.port)
        this.log('The embedded database moved to another port. Restart this process.');
      this.server ??= server;
    });
    this.checkTimer ??= setInterval(() => void this.checkServer(), CHECK_MS).unref();
  }

  /** Retried, since a server may be found while it stops or recovers. */
  private async join(): Promise<{ server: RunningServer; keepAlive: KeepAliveSession }> {
    for (const deadline = monotonicMs() + RECOVERY_MS; ; await sleep(RECOVERY_POLL_MS)) {
      const server = await this.supervisor.ensureRunning(this.server?.port);
      try {
        return { server, keepAlive: await connectKeepAlive(server, () => this.lost()) };
      } catch (error) {
        if (error instanceof DatabaseUnusable || !PASSING.test(codeOf(error)) || monotonicMs() > deadline) throw error;
      }
    }
  }

  async release(): Promise<void> {
    if (this.released.signal.aborted) return;
    this.released.abort();
    clearInterval(this.checkTimer);
    try {
      await this.reviving;
      await this.supervisor.exclusively(() => this.leave());
    } catch (error) {
      this.log(`The embedded database was left running: ${reasonOf(error)}`);
    } finally {
      await this.keepAlive?.close();
    }
  }

  /** Under the lock: of two processes that leave at once, the second sees that the first is gone. */
  private async leave(): Promise<void> {
    if (this.keepAlive === undefined) return;
    const last = await this.keepAlive.isLastUser();
    await this.keepAlive.close();
    if (last) await this.supervisor.stop();
  }

  /**
   * A server that received SIGTERM accepts no new sessions and waits for existing ones, including ours. It is stopped
   * at once and then restarted, as after any other exit.
   */
  private async checkServer(): Promise<void> {
    if (this.server === undefined || this.isForcingStop || !this.supervisor.isStopping(this.server)) return;
    this.isForcingStop = true;
    this.log('Stopping the embedded database.');
    const server = this.server;
    await this.supervisor
      .exclusively(() => this.supervisor.forceStop(server))
      .catch((error: unknown) => this.log(`Cannot stop the embedded database: ${reasonOf(error)}`));
    this.isForcingStop = false;
  }

  private lost(): void {
    this.keepAlive = undefined;
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

async function connectKeepAlive({ url, directory, pid }: RunningServer, lost: () => void): Promise<KeepAliveSession> {
  try {
    return await KeepAliveSession.connect(url, lost);
  } catch (error) {
    if (codeOf(error) !== WRONG_PASSWORD) throw error;
    throw new DatabaseUnusable(
      `The password in postgres.json does not match the embedded database in ${directory}. Stop it (kill -INT ${pid}), delete postgres.json, and start again.`,
      error,
    );
  }
}

const CONNECT_TIMEOUT_MS = 10_000;
const ROLE = 'keeper';

/** Members that pg's types lack. */
class KeepAliveClient extends pg.Client {
  declare readonly ref: () => void;
  declare readonly unref: () => void;
}

/** Other pools of a leaving process may close slightly later than this session. */
const GRACE_MS = 300;
const POLL_MS = 25;

/** The session that counts a process among the users of the embedded server. Does not keep the process alive. */
export class KeepAliveSession {
  private closed = false;

  private constructor(private readonly client: KeepAliveClient) {}

  /** @param lost called once if the session ends without `close` */
  static async connect(url: string, lost: () => void): Promise<KeepAliveSession> {
    const client = new KeepAliveClient({
      connectionString: withRole(url, ROLE),
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      keepAlive: true,
    });
    client.on('error', () => undefined); // always followed by 'end'
    try {
      await client.connect();
    } catch (error) {
      await client.end().catch(() => undefined);
      throw error;
    }
    const keepAlive = new KeepAliveSession(client);
    client.once('end', () => {
      if (!keepAlive.closed) lost();
    });
    client.unref();
    return keepAlive;
  }

  /** Whether no other process uses the server. From then on the process waits for the session. */
  async isLastUser(): Promise<boolean> {
    this.client.ref();
    for (const deadline = monotonicMs() + GRACE_MS; ; await sleep(POLL_MS)) {
      const { keepers, others } = await this.countOthers();
      if (keepers > 0) return false;
      if (others === 0) return true;
      if (monotonicMs() > deadline) return false;
    }
  }

  /** Resolves once the server no longer counts the session. */
  async close(): Promise<void> {
    this.closed = true;
    await this.client.end().catch(() => undefined);
  }

  private async countOthers(): Promise<{ keepers: number; others: number }> {
    const { rows } = await this.client.query<{ keepers: string; others: string }>(COUNT_OTHERS, [
      `${APPLICATION_PREFIX} %`,
      `% ${ROLE}`,
      `${applicationName('')}%`,
    ]);
    return { keepers: Number(rows[0]?.keepers), others: Number(rows[0]?.others) };
  }
}

/** Our sessions except this one: keepers, and other connections of other processes. */
const COUNT_OTHERS = `
  SELECT count(*) FILTER (WHERE application_name LIKE $2) AS keepers,
         count(*) FILTER (WHERE application_name NOT LIKE $2 AND application_name NOT LIKE $3) AS others
    FROM pg_stat_activity
   WHERE backend_type = 'client backend' AND pid <> pg_backend_pid() AND application_name LIKE $1`;
