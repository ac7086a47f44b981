import { type BeforeApplicationShutdown, Injectable, Logger } from '@nestjs/common';
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import {
  ADVISORY_LOCKS,
  DatabasePools,
  type ReconnectingSession,
  processIdentity,
  type SessionClient,
} from '../../../platform/database/index.js';
import { Clock, monotonicMs, newId, reasonOf } from '../../../platform/shared/index.js';

/** Identity of this process among those that share the database. */
@Injectable()
export class CurrentProcess {
  readonly id: string;
  readonly pid = process.pid;
  /** Scope of the pid. */
  readonly host = thisHost();
  /** Distinguishes it from a later process with the same pid; empty if unavailable. */
  readonly identity = processIdentity(process.pid) ?? '';

  constructor(clock: Clock) {
    this.id = newId('prs', clock.now());
  }

  /** Whether a process is known to have exited; only possible for processes of this host. */
  knowsGone({ host, pid, identity }: Pick<CurrentProcess, 'host' | 'pid' | 'identity'>): boolean {
    return host === this.host && identity !== '' && processIdentity(pid) !== identity;
  }
}

/** Machine, boot and container, each of which has its own pids. The last two are only known on Linux. */
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

/** Timings for detecting dead processes, in ms; the same for all processes on a database. */
@Injectable()
export class SweepTimings {
  /** Heartbeat interval. */
  readonly heartbeatMs: number = 10_000;
  /** Silence after which a process counts as dead. */
  readonly deadAfterMs: number = 60_000;
  /** Interval between sweeps. */
  readonly sweepEveryMs: number = 15_000;
}

/**
 * Shows others that this process is alive: a row with its last heartbeat, and a lock on its ID that the database
 * releases when the session ends. Both are restored after a lost session.
 */
@Injectable()
export class Presence implements BeforeApplicationShutdown {
  private readonly logger = new Logger('Presence');
  private readonly session: ReconnectingSession;
  private begun = false;
  private preparedMs = 0;

  constructor(
    pools: DatabasePools,
    private readonly self: CurrentProcess,
    private readonly timings: SweepTimings,
  ) {
    this.session = pools.reconnectingSession('presence', timings.heartbeatMs, {
      prepare: (client) => this.register(client),
      beat: (client) => this.heartbeat(client),
      lost: () => this.logger.warn('Lost the liveness connection of this process.'),
      back: () => this.logger.log('Liveness connection restored.'),
      failed: (error) => this.logger.debug(`Failed to open the liveness connection: ${reasonOf(error)}`),
    });
  }

  /** How long the session has been uninterrupted, in ms; 0 while disconnected. */
  get steadyMs(): number {
    return this.session.connected ? monotonicMs() - this.preparedMs : 0;
  }

  /** Registers the process. @throws when the database does not respond */
  async begin(): Promise<void> {
    if (this.begun) return;
    await this.session.open();
    this.begun = true;
  }

  /** After the last settlement: a remaining row has calls for others to close. */
  async beforeApplicationShutdown(): Promise<void> {
    await this.session.close((client) => client.query(DEREGISTER, [this.self.id]));
  }

  /**
   * Runs `work` unless another process does, or the session is lost. If it is lost meanwhile, another process may start
   * concurrently.
   */
  async exclusively(work: () => Promise<void>): Promise<void> {
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
   * A frozen process or a machine without power keeps its connection: keepalive settings let the server end silent
   * sessions and release their locks. The lock is shared, so that a stale session does not block its successor.
   */
  private async register(client: SessionClient): Promise<void> {
    await client.query(`SET idle_session_timeout = ${this.timings.deadAfterMs}`);
    await client.query('SELECT pg_advisory_lock_shared($1, hashtext($2))', [ADVISORY_LOCKS.process, this.self.id]);
    await this.heartbeat(client);
    this.preparedMs = monotonicMs();
  }

  private heartbeat(client: SessionClient): Promise<unknown> {
    const { id, host, pid, identity } = this.self;
    return client.query(HEARTBEAT, [id, host, pid, identity]);
  }
}

/** Writes the whole row, which may have been deleted, or created for calls without one. */
const HEARTBEAT = `
  INSERT INTO processes (id, host, pid, identity) VALUES ($1, $2, $3, $4)
  ON CONFLICT (id) DO UPDATE
    SET host = excluded.host, pid = excluded.pid, identity = excluded.identity, heartbeat_at = now()`;

const DEREGISTER = `
  DELETE FROM processes WHERE id = $1 AND NOT EXISTS (SELECT FROM open_calls WHERE process_id = $1)`;

/** A process whose lock is free. */
export interface UnlockedProcess {
  readonly id: string;
  readonly host: string;
  readonly pid: number;
  readonly identity: string;
  /** No heartbeat for too long, while the database was available. */
  readonly silent: boolean;
}

/** The registry of processes that admit calls. */
@Injectable()
export class ProcessRepository {
  constructor(
    private readonly pools: DatabasePools,
    private readonly self: CurrentProcess,
    private readonly timings: SweepTimings,
  ) {}

  /** Registers unknown processes of open calls, with the current time as last heartbeat. */
  async registerUnknown(): Promise<void> {
    await this.pools.settlement.query(REGISTER_UNKNOWN);
  }

  /** All other processes whose lock is free. */
  async unlocked(): Promise<UnlockedProcess[]> {
    const { rows } = await this.pools.settlement.query<UnlockedProcess>(UNLOCKED, [
      this.self.id,
      this.timings.deadAfterMs,
      ADVISORY_LOCKS.process,
    ]);
    return rows;
  }

  /** Removes processes without open calls. One that is alive registers again. */
  async forget(ids: readonly string[]): Promise<void> {
    await this.pools.settlement.query(FORGET, [ids]);
  }
}

const REGISTER_UNKNOWN = `
  INSERT INTO processes (id, host, pid, identity)
  SELECT DISTINCT o.process_id, '', 0, '' FROM open_calls o
   WHERE NOT EXISTS (SELECT FROM processes p WHERE p.id = o.process_id)
  ON CONFLICT (id) DO NOTHING`;

/**
 * Heartbeats cannot be written during a database outage, hence the start time. In pg_locks, a two-key lock shows its keys as unsigned classid and
 * objid.
 */
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
