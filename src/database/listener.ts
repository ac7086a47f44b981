import { Logger } from '@nestjs/common';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { reasonOf } from '../shared/index.js';
import { withRole } from './connection-url.js';

/** The one PostgreSQL channel; topics are inside the message. */
export const NOTIFICATION_CHANNEL = 'switchboard';

const FIRST_RETRY_MS = 100;
const LAST_RETRY_MS = 2000;
/** A connection that dies without a word (a pulled cable, a firewall) is found out after two of these. */
const HEARTBEAT_MS = 5000;
const CONNECT_TIMEOUT_MS = 2000;

interface ListenerEvents {
  message(message: string): void | Promise<void>;
  /** Listening has begun again after a loss. */
  reconnected(): void;
}

/** One session that listens for as long as the process lives: it reconnects by itself and takes its locks again. */
export class Listener {
  private readonly logger = new Logger('Notifications');
  private readonly locks = new Set<number>();
  private client: pg.Client | undefined;
  private heartbeat: NodeJS.Timeout | undefined;
  private reconnecting: Promise<void> | undefined;
  private readonly closing = new AbortController();

  constructor(
    private readonly url: string,
    private readonly events: ListenerEvents,
  ) {}

  get connected(): boolean {
    return this.client !== undefined;
  }

  async start(): Promise<void> {
    await this.connect();
  }

  /** Holds a shared advisory lock from now on, over reconnects. */
  async hold(lock: number): Promise<void> {
    this.locks.add(lock);
    await this.client?.query('SELECT pg_advisory_lock_shared($1)', [lock]);
  }

  async close(): Promise<void> {
    this.closing.abort();
    await this.reconnecting;
    const client = this.client;
    this.forget();
    await client?.end().catch(() => undefined);
  }

  private async connect(): Promise<void> {
    const client = new pg.Client({
      connectionString: withRole(this.url, 'listen'),
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      query_timeout: HEARTBEAT_MS,
      keepAlive: true,
    });
    client.on('error', () => undefined); // always followed by 'end'
    client.on('notification', ({ payload }) => void this.events.message(payload ?? ''));
    try {
      await client.connect();
      await client.query(`LISTEN ${NOTIFICATION_CHANNEL}`);
      for (const lock of this.locks) await client.query('SELECT pg_advisory_lock_shared($1)', [lock]);
    } catch (error) {
      await client.end().catch(() => undefined);
      throw error;
    }
    client.once('end', () => this.lost(client));
    this.client = client;
    this.heartbeat = setInterval(() => void this.beat(client), HEARTBEAT_MS).unref();
  }

  /** A query that fails or is late means that the connection is lost, even if the socket has not noticed. */
  private async beat(client: pg.Client): Promise<void> {
    try {
      await client.query('SELECT 1');
    } catch {
      this.lost(client);
      await client.end().catch(() => undefined);
    }
  }

  private lost(client: pg.Client): void {
    if (this.client !== client) return;
    this.forget();
    if (this.closing.signal.aborted) return;
    this.logger.warn('The connection that carries notifications was lost; caches live one second until it is back.');
    this.reconnecting = this.reconnect();
  }

  private forget(): void {
    clearInterval(this.heartbeat);
    this.client = undefined;
  }

  private async reconnect(): Promise<void> {
    for (let waitMs = FIRST_RETRY_MS; !this.closing.signal.aborted; waitMs = Math.min(waitMs * 2, LAST_RETRY_MS)) {
      try {
        await this.connect();
        this.logger.log('Notifications are back.');
        return this.events.reconnected();
      } catch (error) {
        this.logger.debug(`The notification connection could not be made: ${reasonOf(error)}`);
        await sleep(waitMs, undefined, { signal: this.closing.signal }).catch(() => undefined);
      }
    }
  }
}
