import { Injectable, Logger } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { Mailer, type DeliveryOutcome } from '../../platform/mail/index.js';
import { Metrics } from '../../platform/metrics/index.js';
import { AlertMails } from './alert-mails.js';
import { type AlertKind, AlertTimings, type DueAlert } from './alert.js';

/** Claims an email for $1 ms. */
const CLAIM = `
  WITH due AS (
    SELECT a.id, r.emails, c.time_zone, coalesce(k.name, '') AS key_name,
           CASE c.kind WHEN 'organization' THEN c.name END AS organization
      FROM alerts a JOIN accounts c ON c.id = a.account_id LEFT JOIN api_keys k ON k.id = a.key_id
     -- An organization has no mailbox: those who manage its wallet get its mail.
     CROSS JOIN LATERAL (
       SELECT array_agg(p.email ORDER BY p.id) AS emails
         FROM accounts p
        WHERE p.state = 'enabled' AND p.verified_at IS NOT NULL AND p.id IN (
          SELECT c.id WHERE c.kind = 'person'
          UNION ALL
          SELECT m.account_id FROM members m
           WHERE m.organization_id = c.id AND m.state = 'active' AND m.role IN ('owner', 'admin', 'billing'))) r
     WHERE a.state = 'due' AND a.next_try_at <= now() AND c.state = 'enabled' AND r.emails IS NOT NULL
       AND coalesce(k.state, 'enabled') = 'enabled'
       -- A key expires without an event that could cancel its alert.
       AND (a.kind <> 'expiry' OR k.expires_at > now())
     ORDER BY a.next_try_at LIMIT 1 FOR UPDATE OF a SKIP LOCKED
  ), claimed AS (
    UPDATE alerts a SET tries = a.tries + 1, next_try_at = now() + $1 * interval '1 ms' FROM due WHERE a.id = due.id
    RETURNING a.id, a.kind, a.facts, a.tries, a.key_id AS "keyId", due.key_name AS "keyName", due.emails,
              due.organization, due.time_zone AS "timeZone"
  )
  SELECT * FROM claimed`;

const END = `UPDATE alerts SET state = $2 WHERE id = $1 AND state = 'due'`;
const POSTPONE = `UPDATE alerts SET next_try_at = now() + $2 * interval '1 ms' WHERE id = $1 AND state = 'due'`;

const DROP_STALE = `
  WITH dropped AS (
    UPDATE alerts SET state = 'stale' WHERE state = 'due' AND raised_at < now() - $1 * interval '1 ms' RETURNING kind
  )
  SELECT kind FROM dropped`;

const DELETE_ALL = ['DELETE FROM alerts WHERE account_id = $1', 'DELETE FROM alert_settings WHERE account_id = $1'];

/** The queue of emails. */
@Injectable()
export class AlertQueue {
  constructor(private readonly dataSource: DataSource) {}

  /** The longest-waiting email, claimed by this process for `forMs`; undefined if none is due. */
  async claim(forMs: number): Promise<DueAlert | undefined> {
    const [alert] = await this.dataSource.query<DueAlert[]>(CLAIM, [forMs]);
    return alert;
  }

  /** Ends an email: it is not sent again. */
  async end(id: string, state: 'sent' | 'refused'): Promise<void> {
    await this.dataSource.query(END, [id, state]);
  }

  async postpone(id: string, forMs: number): Promise<void> {
    await this.dataSource.query(POSTPONE, [id, forMs]);
  }

  /** @returns the kinds of the dropped emails */
  async dropStale(afterMs: number): Promise<readonly AlertKind[]> {
    const rows = await this.dataSource.query<{ kind: AlertKind }[]>(DROP_STALE, [afterMs]);
    return rows.map(({ kind }) => kind);
  }

  /** Deletes an account's alerts and settings. */
  async deleteAllOf(accountId: string, manager: EntityManager): Promise<void> {
    for (const statement of DELETE_ALL) await manager.query(statement, [accountId]);
  }
}

/**
 * Sends due emails one by one: claimed, handed to the mail server, recorded as sent. Failed deliveries are retried by
 * any live process. A process that dies between delivery and recording leaves it unknown whether the email was sent;
 * another process then sends it again once the claim expires. A duplicate warning is better than a lost one.
 */
@Injectable()
export class AlertSender {
  private readonly logger = new Logger('Alerts');
  private readonly sent;
  /** Results that could not be recorded yet. */
  private readonly unrecorded = new Map<string, 'sent' | 'refused'>();

  constructor(
    private readonly queue: AlertQueue,
    private readonly mails: AlertMails,
    private readonly mailer: Mailer,
    private readonly timings: AlertTimings,
    metrics: Metrics,
  ) {
    this.sent = metrics.counter('alerts_total', 'Alert emails to users.', ['kind', 'outcome']);
  }

  /** Until none is due, the mail server is down, or `stop` is aborted. @throws when the database is unavailable */
  async sendDue(stop: AbortSignal): Promise<void> {
    for (const [id, state] of this.unrecorded) await this.record(id, state);
    await this.dropStale();
    while (!stop.aborted) {
      const alert = await this.queue.claim(this.timings.claimMs);
      if (alert === undefined || (await this.send(alert)) === 'away') return;
    }
  }

  private async send(alert: DueAlert): Promise<DeliveryOutcome> {
    const outcome = await this.mailer.offer(this.mails.mailOf(alert));
    if (outcome === 'away') await this.queue.postpone(alert.id, this.pauseAfter(alert.tries));
    else {
      this.count(alert.kind, outcome);
      this.unrecorded.set(alert.id, outcome);
      await this.record(alert.id, outcome);
    }
    return outcome;
  }

  private async record(id: string, state: 'sent' | 'refused'): Promise<void> {
    await this.queue.end(id, state);
    this.unrecorded.delete(id);
  }

  private async dropStale(): Promise<void> {
    const dropped = await this.queue.dropStale(this.timings.staleAfterMs);
    for (const kind of dropped) this.count(kind, 'stale');
    if (dropped.length > 0) this.logger.warn(`Dropped ${dropped.length} alert emails that could not be sent in time.`);
  }

  private count(kind: AlertKind, outcome: 'sent' | 'refused' | 'stale'): void {
    this.sent.inc({ kind, outcome });
  }

  private pauseAfter(tries: number): number {
    const { firstRetryMs, longestRetryMs } = this.timings;
    return Math.min(firstRetryMs * 2 ** (tries - 1), longestRetryMs);
  }
}
