import { Injectable } from '@nestjs/common';
import { ADVISORY_LOCKS, DatabasePools } from '../../../platform/database/index.js';
import { SweepTimings } from './sweep-timings.js';
import { ThisProcess } from './this-process.js';

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
