import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import type { AlertKind, DueAlert } from './alert.js';

/** Nobody else takes up the same mail at the same time, nor for as long as $1 says. */
const CLAIM = `
  WITH due AS (
    SELECT a.id, c.email, c.time_zone, coalesce(k.name, '') AS key_name
      FROM alerts a JOIN accounts c ON c.id = a.account_id LEFT JOIN api_keys k ON k.id = a.key_id
     WHERE a.state = 'due' AND a.next_try_at <= now() AND c.state = 'enabled' AND c.verified_at IS NOT NULL
       AND coalesce(k.state, 'enabled') = 'enabled'
       -- It passes by itself: nobody looks at that moment.
       AND (a.kind <> 'expiry' OR k.expires_at > now())
     ORDER BY a.next_try_at LIMIT 1 FOR UPDATE OF a SKIP LOCKED
  ), claimed AS (
    UPDATE alerts a SET tries = a.tries + 1, next_try_at = now() + $1 * interval '1 ms' FROM due WHERE a.id = due.id
    RETURNING a.id, a.kind, a.facts, a.tries, a.key_id AS "keyId", due.key_name AS "keyName", due.email,
              due.time_zone AS "timeZone"
  )
  SELECT * FROM claimed`;

const END = `UPDATE alerts SET state = $2 WHERE id = $1 AND state = 'due'`;
const POSTPONE = `UPDATE alerts SET next_try_at = now() + $2 * interval '1 ms' WHERE id = $1 AND state = 'due'`;

const DROP_STALE = `
  WITH dropped AS (
    UPDATE alerts SET state = 'stale' WHERE state = 'due' AND raised_at < now() - $1 * interval '1 ms' RETURNING kind
  )
  SELECT kind FROM dropped`;

const FORGET = ['DELETE FROM alerts WHERE account_id = $1', 'DELETE FROM alert_settings WHERE account_id = $1'];

/** What is to be mailed, and what was. */
@Injectable()
export class AlertBook {
  constructor(private readonly dataSource: DataSource) {}

  /** The mail that has waited longest, for this process alone for so long; undefined: none waits. */
  async claim(forMs: number): Promise<DueAlert | undefined> {
    const [alert] = await this.dataSource.query<DueAlert[]>(CLAIM, [forMs]);
    return alert;
  }

  /** It is not sent again. */
  async end(id: string, state: 'sent' | 'refused'): Promise<void> {
    await this.dataSource.query(END, [id, state]);
  }

  async postpone(id: string, forMs: number): Promise<void> {
    await this.dataSource.query(POSTPONE, [id, forMs]);
  }

  /** @returns what was dropped: a row for each mail */
  async dropStale(afterMs: number): Promise<readonly AlertKind[]> {
    const rows = await this.dataSource.query<{ kind: AlertKind }[]>(DROP_STALE, [afterMs]);
    return rows.map(({ kind }) => kind);
  }

  /** Nothing is left of an account's alerts, nor of what it had set. */
  async forget(accountId: string, manager: EntityManager): Promise<void> {
    for (const statement of FORGET) await manager.query(statement, [accountId]);
  }
}
