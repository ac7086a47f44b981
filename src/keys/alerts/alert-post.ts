import { Injectable, Logger } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { Mailer, type Offered } from '../../platform/mail/index.js';
import { Metrics } from '../../platform/metrics/index.js';
import { AlertMails } from './alert-mails.js';
import { type AlertKind, AlertTimings, type DueAlert } from './alert.js';

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

/**
 * Sends what is due, one mail after another, each by one process alone: taken up, handed to the mail server, noted as
 * sent. What could not be handed over is tried again by whichever process lives.
 *
 * A process may die, or lose its database, between the last two steps: nobody can know then whether the mail went out,
 * and another process sends it, once what it was taken up for has passed. So in this window a warning may come twice. The
 * other way round it would be lost, and a call refused that nobody was warned of: that is worse.
 */
@Injectable()
export class AlertPost {
  private readonly logger = new Logger('Alerts');
  private readonly told;
  /** What became of mails, until the database knows. */
  private readonly unrecorded = new Map<string, 'sent' | 'refused'>();

  constructor(
    private readonly alerts: AlertBook,
    private readonly mails: AlertMails,
    private readonly mailer: Mailer,
    private readonly timings: AlertTimings,
    metrics: Metrics,
  ) {
    this.told = metrics.counter('alerts_total', 'Alert emails to users.', ['kind', 'outcome']);
  }

  /** Until none is due, the mail server is away, or somebody wants it to stop. @throws when the database is away */
  async sendDue(stop: AbortSignal): Promise<void> {
    for (const [id, state] of this.unrecorded) await this.record(id, state);
    await this.dropStale();
    while (!stop.aborted) {
      const alert = await this.alerts.claim(this.timings.claimMs);
      if (alert === undefined || (await this.send(alert)) === 'away') return;
    }
  }

  private async send(alert: DueAlert): Promise<Offered> {
    const outcome = await this.mailer.offer(this.mails.mailOf(alert));
    if (outcome === 'away') await this.alerts.postpone(alert.id, this.pauseAfter(alert.tries));
    else {
      this.count(alert.kind, outcome);
      this.unrecorded.set(alert.id, outcome);
      await this.record(alert.id, outcome);
    }
    return outcome;
  }

  private async record(id: string, state: 'sent' | 'refused'): Promise<void> {
    await this.alerts.end(id, state);
    this.unrecorded.delete(id);
  }

  private async dropStale(): Promise<void> {
    const dropped = await this.alerts.dropStale(this.timings.staleAfterMs);
    for (const kind of dropped) this.count(kind, 'stale');
    if (dropped.length > 0) this.logger.warn(`Dropped ${dropped.length} alert emails that could not be sent in time.`);
  }

  private count(kind: AlertKind, outcome: 'sent' | 'refused' | 'stale'): void {
    this.told.inc({ kind, outcome });
  }

  private pauseAfter(tries: number): number {
    const { firstRetryMs, longestRetryMs } = this.timings;
    return Math.min(firstRetryMs * 2 ** (tries - 1), longestRetryMs);
  }
}
