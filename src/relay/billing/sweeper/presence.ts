import { type BeforeApplicationShutdown, Injectable, Logger } from '@nestjs/common';
import {
  ADVISORY_LOCKS,
  DatabasePools,
  type KeptSession,
  type SessionClient,
} from '../../../platform/database/index.js';
import { monotonicMs, reasonOf } from '../../../platform/shared/index.js';
import { SweepTimings } from './sweep-timings.js';
import { ThisProcess } from './this-process.js';

/**
 * Lets others see that this process lives: its row with the time of its last sign of life, and a lock on its id that
 * the database lets go of when the session ends, however that happens. Both come back when the session was lost.
 */
@Injectable()
export class Presence implements BeforeApplicationShutdown {
  private readonly logger = new Logger('Presence');
  private readonly session: KeptSession;
  private begun = false;
  private preparedMs = 0;

  constructor(
    pools: DatabasePools,
    private readonly self: ThisProcess,
    private readonly timings: SweepTimings,
  ) {
    this.session = pools.keptSession('presence', timings.heartbeatMs, {
      prepare: (client) => this.appear(client),
      beat: (client) => this.showLife(client),
      lost: () => this.logger.warn('Lost the liveness connection of this process.'),
      back: () => this.logger.log('Liveness connection restored.'),
      failed: (error) => this.logger.debug(`The connection could not be made: ${reasonOf(error)}`),
    });
  }

  /** How long the session has held without a break, in ms; 0 while there is none. */
  get steadyMs(): number {
    return this.session.connected ? monotonicMs() - this.preparedMs : 0;
  }

  /** From here on the process is seen. @throws when the database does not answer */
  async begin(): Promise<void> {
    if (this.begun) return;
    await this.session.open();
    this.begun = true;
  }

  /** After the last call has been settled: a row that stays behind has calls for somebody else to close. */
  async beforeApplicationShutdown(): Promise<void> {
    await this.session.close((client) => client.query(DISAPPEAR, [this.self.id]));
  }

  /**
   * Does the work while no other process does such work; nothing when one does, or without a connection. Should the
   * session be lost meanwhile, another may begin beside it.
   */
  async inTurn(work: () => Promise<void>): Promise<void> {
    if (!this.session.connected) return;
    const tried = 'SELECT pg_try_advisory_lock($1) AS ours';
    const { rows } = await this.session.query<{ ours: boolean }>(tried, [ADVISORY_LOCKS.sweep]);
    if (rows[0]?.ours !== true) return;
    try {
      await work();
    } finally {
      await this.session.query('SELECT pg_advisory_unlock($1)', [ADVISORY_LOCKS.sweep]).catch(() => undefined);
    }
  }

  /**
   * A process that stands still, and a machine that lost its power, keep their connection: only the server can end a
   * session that has fallen silent, and the locks with it. The lock is shared, so that a session that the server still
   * believes in does not keep its successor waiting.
   */
  private async appear(client: SessionClient): Promise<void> {
    await client.query(`SET idle_session_timeout = ${this.timings.deadAfterMs}`);
    await client.query('SELECT pg_advisory_lock_shared($1, hashtext($2))', [ADVISORY_LOCKS.process, this.self.id]);
    await this.showLife(client);
    this.preparedMs = monotonicMs();
  }

  private showLife(client: SessionClient): Promise<unknown> {
    const { id, host, pid, identity } = this.self;
    return client.query(SHOW_LIFE, [id, host, pid, identity]);
  }
}

/** The row is written whole, for it may have been taken away meanwhile, or been made for calls without one. */
const SHOW_LIFE = `
  INSERT INTO processes (id, host, pid, identity) VALUES ($1, $2, $3, $4)
  ON CONFLICT (id) DO UPDATE
    SET host = excluded.host, pid = excluded.pid, identity = excluded.identity, heartbeat_at = now()`;

const DISAPPEAR = `
  DELETE FROM processes WHERE id = $1 AND NOT EXISTS (SELECT FROM open_calls WHERE process_id = $1)`;
