import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { withRole } from './connection-url.js';
import { DatabaseClient } from './database-client.js';

const FIRST_RETRY_MS = 100;
const LAST_RETRY_MS = 2000;
/** Timeout for connecting and for each response. */
const RESPONSE_TIMEOUT_MS = 5000;
const CONNECT_TIMEOUT_MS = 2000;

/** A connection without a pending statement. */
export type SessionClient = Pick<pg.Client, 'query'>;

export interface SessionHandlers {
  /** Prepares a new connection: settings, locks, LISTEN. If it rejects, another connection follows. */
  prepare(client: pg.Client): Promise<void>;
  /** Health check; an error or timeout means that the connection is lost. */
  beat(client: SessionClient): Promise<unknown>;
  lost(): void;
  /** The session was restored after a loss. */
  back(): void;
  /** A reconnection attempt failed; another one follows. */
  failed(error: unknown): void;
}

/**
 * A session that lives as long as the process. It is checked every `beatMs`, since a connection can die silently
 * (cable, firewall), and reconnects when lost.
 */
export class ReconnectingSession {
  private client: pg.Client | undefined;
  private heart: NodeJS.Timeout | undefined;
  private reconnecting: Promise<void> | undefined;
  private line: Promise<unknown> = Promise.resolve();
  private readonly closing = new AbortController();

  /** @param role session name in `pg_stat_activity` */
  constructor(
    private readonly url: string,
    private readonly role: string,
    private readonly beatMs: number,
    private readonly handlers: SessionHandlers,
  ) {}

  get connected(): boolean {
    return this.client !== undefined;
  }

  /** Runs one statement at a time. @throws while disconnected */
  query<Row extends pg.QueryResultRow>(text: string, values: unknown[] = []): Promise<pg.QueryResult<Row>> {
    const { client } = this;
    if (client === undefined) return Promise.reject(new Error('Connection terminated.'));
    return this.enqueue(() => client.query<Row>(text, values));
  }

  /** First connection. @throws if it fails; later losses are repaired in the background */
  async open(): Promise<void> {
    const client = new DatabaseClient({
      connectionString: withRole(this.url, this.role),
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      query_timeout: RESPONSE_TIMEOUT_MS,
      keepAlive: true,
    });
    client.on('error', () => undefined); // always followed by 'end'
    try {
      await client.connect();
      await this.handlers.prepare(client);
    } catch (error) {
      await client.end().catch(() => undefined);
      throw error;
    }
    client.once('end', () => this.lose(client));
    this.client = client;
    this.heart = setInterval(() => void this.beat(client), this.beatMs).unref();
  }

  /** @param lastStatement last statement, sent if connected; its errors are ignored */
  async close(lastStatement?: (client: SessionClient) => Promise<unknown>): Promise<void> {
    this.closing.abort();
    await this.reconnecting;
    const client = this.client;
    this.forget();
    if (client === undefined) return;
    if (lastStatement !== undefined) await this.enqueue(() => lastStatement(client)).catch(() => undefined);
    await client.end().catch(() => undefined);
  }

  private async beat(client: pg.Client): Promise<void> {
    try {
      await this.enqueue(() => this.handlers.beat(client));
    } catch {
      this.lose(client);
      await client.end().catch(() => undefined);
    }
  }

  private enqueue<Response>(ask: () => Promise<Response>): Promise<Response> {
    const response = this.line.then(ask);
    this.line = response.catch(() => undefined);
    return response;
  }

  private lose(client: pg.Client): void {
    if (this.client !== client) return;
    this.forget();
    if (this.closing.signal.aborted) return;
    this.handlers.lost();
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
        return this.handlers.back();
      } catch (error) {
        this.handlers.failed(error);
        await sleep(waitMs, undefined, { signal: this.closing.signal }).catch(() => undefined);
      }
    }
  }
}
