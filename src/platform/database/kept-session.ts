import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { withRole } from './connection-url.js';

const FIRST_RETRY_MS = 100;
const LAST_RETRY_MS = 2000;
/** An answer takes so long at most, and so does signing in: what is later never comes. */
const ANSWER_TIMEOUT_MS = 5000;
const CONNECT_TIMEOUT_MS = 2000;

/** A connection on which nothing else is under way. */
export type SessionClient = Pick<pg.Client, 'query'>;

/** What a session is kept for. */
export interface SessionDuties {
  /** Makes a new connection what it has to be: settings, locks, LISTEN. Whoever rejects gets another one later. */
  prepare(client: pg.Client): Promise<void>;
  /** Asks something of the server; that it fails, or comes late, means that the connection is lost. */
  beat(client: SessionClient): Promise<unknown>;
  lost(): void;
  /** The session is there again, prepared, after a loss. */
  back(): void;
  /** A new connection could not be made; another try follows. */
  failed(error: unknown): void;
}

/**
 * One session that lives as long as the process, for what only a session can hold: it is asked something every
 * `beatMs`, since a connection may die without a word (a pulled cable, a firewall), and is made anew when it was lost.
 */
export class KeptSession {
  private client: pg.Client | undefined;
  private heart: NodeJS.Timeout | undefined;
  private reconnecting: Promise<void> | undefined;
  private line: Promise<unknown> = Promise.resolve();
  private readonly closing = new AbortController();

  /** @param role what the session is called in `pg_stat_activity` */
  constructor(
    private readonly url: string,
    private readonly role: string,
    private readonly beatMs: number,
    private readonly duties: SessionDuties,
  ) {}

  get connected(): boolean {
    return this.client !== undefined;
  }

  /** One statement after another, as a session takes them. @throws while there is no connection */
  query<Row extends pg.QueryResultRow>(text: string, values: unknown[] = []): Promise<pg.QueryResult<Row>> {
    const { client } = this;
    if (client === undefined) return Promise.reject(new Error('Connection terminated.'));
    return this.inLine(() => client.query<Row>(text, values));
  }

  /** Connects for the first time. @throws when that fails; later losses are repaired in the background */
  async open(): Promise<void> {
    const client = new pg.Client({
      connectionString: withRole(this.url, this.role),
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      query_timeout: ANSWER_TIMEOUT_MS,
      keepAlive: true,
    });
    client.on('error', () => undefined); // always followed by 'end'
    try {
      await client.connect();
      await this.duties.prepare(client);
    } catch (error) {
      await client.end().catch(() => undefined);
      throw error;
    }
    client.once('end', () => this.lose(client));
    this.client = client;
    this.heart = setInterval(() => void this.beat(client), this.beatMs).unref();
  }

  /** @param goodbye what is still asked if there is a connection; nothing follows it, and its failure is none */
  async close(goodbye?: (client: SessionClient) => Promise<unknown>): Promise<void> {
    this.closing.abort();
    await this.reconnecting;
    const client = this.client;
    this.forget();
    if (client === undefined) return;
    if (goodbye !== undefined) await this.inLine(() => goodbye(client)).catch(() => undefined);
    await client.end().catch(() => undefined);
  }

  private async beat(client: pg.Client): Promise<void> {
    try {
      await this.inLine(() => this.duties.beat(client));
    } catch {
      this.lose(client);
      await client.end().catch(() => undefined);
    }
  }

  private inLine<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
    const answer = this.line.then(ask);
    this.line = answer.catch(() => undefined);
    return answer;
  }

  private lose(client: pg.Client): void {
    if (this.client !== client) return;
    this.forget();
    if (this.closing.signal.aborted) return;
    this.duties.lost();
    this.reconnecting = this.reconnect();
  }

  private forget(): void {
    clearInterval(this.heart);
    this.client = undefined;
  }

  private async reconnect(): Promise<void> {
    for (let waitMs = FIRST_RETRY_MS; !this.closing.signal.aborted; waitMs = Math.min(waitMs * 2, LAST_RETRY_MS)) {
      try {
        await this.open();
        return this.duties.back();
      } catch (error) {
        this.duties.failed(error);
        await sleep(waitMs, undefined, { signal: this.closing.signal }).catch(() => undefined);
      }
    }
  }
}
