import { type BeforeApplicationShutdown, Injectable, Logger } from '@nestjs/common';
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import {
  ADVISORY_LOCKS,
  DatabasePools,
  type KeptSession,
  processIdentity,
  type SessionClient,
} from '../../../platform/database/index.js';
import { Clock, monotonicMs, newId, reasonOf } from '../../../platform/shared/index.js';

/** Which of the processes that share the database this is: its calls carry its id. */
@Injectable()
export class ThisProcess {
  readonly id: string;
  readonly pid = process.pid;
  /** Where its number means something: nobody elsewhere can tell from it whether it lives. */
  readonly host = thisHost();
  /** What tells it from a later process with the same number; empty where that cannot be known. */
  readonly identity = processIdentity(process.pid) ?? '';

  constructor(clock: Clock) {
    this.id = newId('prs', clock.now());
  }

  /** Whether a process is known to have ended: only ever true of one that ran here. */
  knowsGone({ host, pid, identity }: Pick<ThisProcess, 'host' | 'pid' | 'identity'>): boolean {
    return host === this.host && identity !== '' && processIdentity(pid) !== identity;
  }
}

/**
 * The machine, since when it has been up, and the container: in each of these, numbers of processes are given anew.
 * The last two are known on Linux only.
 */
const thisHost = (): string =>
  [
    hostname(),
    read(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8')),
    read(() => readlinkSync('/proc/self/ns/pid')),
  ]
    .filter((part) => part !== '')
    .join(' ');

function read(source: () => string): string {
  try {
    return source().trim();
  } catch {
    return '';
  }
}

/** How it is told that a process has died, in milliseconds. The same in every process that shares a database. */
@Injectable()
export class SweepTimings {
  /** A process says so often that it lives. */
  readonly heartbeatMs: number = 10_000;
  /** One that has been silent for longer counts as dead. */
  readonly deadAfterMs: number = 60_000;
  /** So long passes between a look for the dead and the next. */
  readonly sweepEveryMs: number = 15_000;
}

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

/** A process whose lock nobody holds. */
export interface UnlockedProcess {
  readonly id: string;
  readonly host: string;
  readonly pid: number;
  readonly identity: string;
  /** It has given no sign of life for too long, while the database was there to take one. */
  readonly silent: boolean;
}

/** The list of the processes that admit calls, as others see it. */
@Injectable()
export class ProcessRepository {
  constructor(
    private readonly pools: DatabasePools,
    private readonly self: ThisProcess,
    private readonly timings: SweepTimings,
  ) {}

  /** Lists the processes of open calls that are not listed, as if they had just been heard of for the last time. */
  async listUnknown(): Promise<void> {
    await this.pools.settlement.query(LIST_UNKNOWN);
  }

  /** Every other process whose lock is free. */
  async unlocked(): Promise<UnlockedProcess[]> {
    const { rows } = await this.pools.settlement.query<UnlockedProcess>(UNLOCKED, [
      this.self.id,
      this.timings.deadAfterMs,
      ADVISORY_LOCKS.process,
    ]);
    return rows;
  }

  /** Takes those off the list whose calls are all closed. One that lives after all puts itself on it again. */
  async forget(ids: readonly string[]): Promise<void> {
    await this.pools.settlement.query(FORGET, [ids]);
  }
}

const LIST_UNKNOWN = `
  INSERT INTO processes (id, host, pid, identity)
  SELECT DISTINCT o.process_id, '', 0, '' FROM open_calls o
   WHERE NOT EXISTS (SELECT FROM processes p WHERE p.id = o.process_id)
  ON CONFLICT (id) DO NOTHING`;

/** While the database was down nobody could be heard. A lock with two keys shows them in classid and objid, without a sign. */
const UNLOCKED = `
  SELECT p.id, p.host, p.pid, p.identity,
         now() - greatest(p.heartbeat_at, pg_postmaster_start_time()) > $2::integer * interval '1 ms' AS silent
    FROM processes p
   WHERE p.id <> $1
     AND NOT EXISTS (
       SELECT FROM pg_locks l
        WHERE l.locktype = 'advisory' AND l.objsubid = 2 AND l.granted
          AND l.classid::bigint = $3 AND l.objid::bigint = hashtext(p.id)::bigint & 4294967295
          AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database()))`;

const FORGET = `
  DELETE FROM processes p WHERE p.id = ANY ($1)
     AND NOT EXISTS (SELECT FROM open_calls o WHERE o.process_id = p.id)`;
