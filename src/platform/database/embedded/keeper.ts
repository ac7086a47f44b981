import pg from 'pg';
import { monotonicMs } from '../../shared/index.js';
import { APPLICATION_PREFIX, applicationName, withRole } from '../connection-url.js';
import { setTimeout as sleep } from 'node:timers/promises';

const CONNECT_TIMEOUT_MS = 10_000;
const ROLE = 'keeper';

/** Members that pg's types lack. */
class KeeperClient extends pg.Client {
  declare readonly ref: () => void;
  declare readonly unref: () => void;
}

/** Other pools of a leaving process may close slightly later than its keeper. */
const GRACE_MS = 300;
const POLL_MS = 25;

/** The session that counts a process among the users of the embedded server. Does not keep the process alive. */
export class Keeper {
  private closed = false;

  private constructor(private readonly client: KeeperClient) {}

  /** @param lost called once if the session ends without `close` */
  static async connect(url: string, lost: () => void): Promise<Keeper> {
    const client = new KeeperClient({
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
    const keeper = new Keeper(client);
    client.once('end', () => {
      if (!keeper.closed) lost();
    });
    client.unref();
    return keeper;
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
