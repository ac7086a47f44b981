import { Logger } from '@nestjs/common';
import type pg from 'pg';
import { reasonOf } from '../shared/index.js';
import { KeptSession } from './kept-session.js';

/** The only channel; topics are part of the message. */
export const NOTIFICATION_CHANNEL = 'switchboard';

/** A connection that died silently is detected after two beats. */
const BEAT_MS = 5000;

interface ListenerEvents {
  message(message: string): void | Promise<void>;
  /** Listening again after a loss. */
  reconnected(): void;
}

/** A session that listens as long as the process lives, and restores its locks after reconnecting. */
export class Listener {
  private readonly logger = new Logger('Notifications');
  private readonly locks = new Set<number>();
  private readonly session: KeptSession;

  constructor(
    url: string,
    private readonly events: ListenerEvents,
  ) {
    this.session = new KeptSession(url, 'listen', BEAT_MS, {
      prepare: (client) => this.listen(client),
      beat: (client) => client.query('SELECT 1'),
      lost: () =>
        this.logger.warn('Lost the notification connection; caches expire after one second until it is restored.'),
      back: () => {
        this.logger.log('Notification connection restored.');
        this.events.reconnected();
      },
      failed: (error) => this.logger.debug(`Cannot open the notification connection: ${reasonOf(error)}`),
    });
  }

  get connected(): boolean {
    return this.session.connected;
  }

  async start(): Promise<void> {
    await this.session.open();
  }

  /** Holds a shared advisory lock, across reconnects. */
  async hold(lock: number): Promise<void> {
    this.locks.add(lock);
    if (this.session.connected) await this.session.query('SELECT pg_advisory_lock_shared($1)', [lock]);
  }

  async close(): Promise<void> {
    await this.session.close();
  }

  private async listen(client: pg.Client): Promise<void> {
    client.on('notification', ({ payload }) => void this.events.message(payload ?? ''));
    await client.query(`LISTEN ${NOTIFICATION_CHANNEL}`);
    for (const lock of this.locks) await client.query('SELECT pg_advisory_lock_shared($1)', [lock]);
  }
}
