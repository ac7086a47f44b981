import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { Cooldown, CooldownReason } from './cooldown.js';

type Named = Pick<Cooldown, 'subject' | 'id'>;

/** A rest as its row has it: times from now on, by the clock of the database, negative when they are past. */
export interface StoredCooldown extends Pick<Cooldown, 'subject' | 'id' | 'strikes'> {
  readonly reason: CooldownReason;
  readonly restMs: number;
  /** 0: nobody tries. */
  readonly probeMs: number;
}

const ms = (parameter: string): string => `${parameter} * interval '1 ms'`;

/** The longer one stays when two processes have something rest at the same time, unless its time is up. $5: in ms. */
const BEGIN = `
  INSERT INTO channel_rests AS r (subject, id, reason, strikes, until)
  VALUES ($1, $2, $3, $4, now() + ${ms('$5::float8')})
  ON CONFLICT (subject) DO UPDATE
    SET id = EXCLUDED.id, reason = EXCLUDED.reason, strikes = EXCLUDED.strikes, until = EXCLUDED.until, probe_until = NULL
  WHERE r.until < EXCLUDED.until OR r.probe_until IS NOT NULL
  RETURNING id`;

/**
 * One statement, so that of all calls of all processes one has it. A row that is gone is made again: the server may have
 * lost it, or never got it. Of another process's rest only one that is over is taken: this one's clock may be wrong.
 */
const CLAIM = `
  INSERT INTO channel_rests AS r (subject, id, reason, strikes, until, probe_until)
  VALUES ($1, $2, $3, $4, now(), now() + ${ms('$5::float8')})
  ON CONFLICT (subject) DO UPDATE SET id = EXCLUDED.id, probe_until = EXCLUDED.probe_until
  WHERE (r.probe_until IS NULL OR r.probe_until <= now()) AND (r.id = EXCLUDED.id OR r.until <= now())
  RETURNING id`;

const ALL = `
  SELECT subject, id, reason, strikes, extract(epoch FROM until - now())::float8 * 1000 AS "restMs",
         greatest(0, coalesce(extract(epoch FROM probe_until - now()), 0))::float8 * 1000 AS "probeMs"
    FROM channel_rests`;

/** Of channels that are gone, and of credentials that were replaced. */
const FORGET = `DELETE FROM channel_rests WHERE until < now() - interval '7 days'`;

@Injectable()
export class CooldownRepository {
  constructor(private readonly dataSource: DataSource) {}

  all(): Promise<StoredCooldown[]> {
    return this.dataSource.query(ALL);
  }

  /** @returns whether it is the one that counts */
  async begin({ subject, id, reason, strikes }: Cooldown, restMs: number): Promise<boolean> {
    return (await this.dataSource.query<unknown[]>(BEGIN, [subject, id, reason, strikes, restMs])).length > 0;
  }

  /** @returns whether this process may try, for so long, whether it is over */
  async claim({ subject, id, reason, strikes }: Cooldown, probeMs: number): Promise<boolean> {
    return (await this.dataSource.query<unknown[]>(CLAIM, [subject, id, reason, strikes, probeMs])).length > 0;
  }

  async end({ subject, id }: Named): Promise<void> {
    await this.dataSource.query('DELETE FROM channel_rests WHERE subject = $1 AND id = $2', [subject, id]);
  }

  async free({ subject, id }: Named): Promise<void> {
    await this.dataSource.query('UPDATE channel_rests SET probe_until = NULL WHERE subject = $1 AND id = $2', [
      subject,
      id,
    ]);
  }

  async forget(): Promise<void> {
    await this.dataSource.query(FORGET);
  }
}
