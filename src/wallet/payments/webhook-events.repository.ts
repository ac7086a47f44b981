import { Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { LogRateLimiter, nanos } from '../../platform/shared/index.js';
import type { Reversal, ReversalFact } from './payment-facts.js';
import { PROVIDER } from './top-up.js';

const CLAIM = `
  INSERT INTO payment_events (provider, id, type) VALUES ('${PROVIDER}', $1, $2)
  ON CONFLICT ON CONSTRAINT payment_event_key DO NOTHING RETURNING id`;

/** The later fact wins; within a second, the higher rank. */
const PUT = `
  INSERT INTO payment_reversals AS r (provider, id, payment, kind, amount, counts, began_at, as_of, rank)
  VALUES ('${PROVIDER}', $1, $2, $3, $4, $5, $6, $7, $8)
  ON CONFLICT ON CONSTRAINT payment_reversal_key DO UPDATE
    SET amount = excluded.amount, counts = excluded.counts, began_at = excluded.began_at, as_of = excluded.as_of,
        rank = excluded.rank, told_at = excluded.told_at
  WHERE (r.as_of, r.rank) < (excluded.as_of, excluded.rank)
     OR (r.kind = 'refunds' AND r.as_of = excluded.as_of AND r.amount < excluded.amount)`;

/** Skips locked rows: a few at a time suffice, since each fact without an order deletes some. */
const DELETE_UNKNOWN = `
  DELETE FROM payment_reversals WHERE (provider, id) IN (
    SELECT r.provider, r.id FROM payment_reversals r
     WHERE r.told_at < now() - interval '90 days'
       AND NOT EXISTS (SELECT 1 FROM top_ups t WHERE t.provider = r.provider AND t.payment = r.payment)
     ORDER BY r.told_at LIMIT 100 FOR UPDATE OF r SKIP LOCKED)`;

/** Locked, so that nothing is deleted while a payment is being applied. */
const REVERSALS = `
  SELECT id, kind, amount, counts, began_at AS "beganAt", as_of AS "asOf" FROM payment_reversals
   WHERE provider = '${PROVIDER}' AND payment = $1 ORDER BY id FOR SHARE`;

/** Processed events, and reversals as last reported. */
@Injectable()
export class WebhookEvents {
  constructor(private readonly dataSource: DataSource) {}

  transaction<T>(work: (manager: EntityManager) => Promise<T>): Promise<T> {
    return this.dataSource.transaction(work);
  }

  /** Whether the event is new. Concurrent deliveries of it wait until this transaction ends. */
  async claim(eventId: string, type: string, manager: EntityManager): Promise<boolean> {
    return (await manager.query<unknown[]>(CLAIM, [eventId, type])).length === 1;
  }

  async put({ payment, reversal, rank }: ReversalFact, manager: EntityManager): Promise<void> {
    const { id, kind, amount, counts, beganAt, asOf } = reversal;
    await manager.query(PUT, [id, payment, kind, amount, counts, beganAt, asOf, rank]);
  }

  /** Deletes old facts about payments without an order. */
  async deleteUnmatched(manager: EntityManager): Promise<void> {
    await manager.query(DELETE_UNKNOWN);
  }

  async reversalsOf(payment: string, manager: EntityManager = this.dataSource.manager): Promise<readonly Reversal[]> {
    const rows = await manager.query<(Omit<Reversal, 'amount'> & { readonly amount: string })[]>(REVERSALS, [payment]);
    return rows.map((row) => ({ ...row, amount: nanos(BigInt(row.amount)) }));
  }
}

/** Senders cannot be distinguished, so all are counted together. */
const ALL = 'all';

/** Logs unsigned events, at most one line per minute. */
@Injectable()
export class RefusedEvents implements OnApplicationShutdown {
  private readonly logger = new Logger('Payments');
  private readonly lines = new LogRateLimiter(1, ({ suppressed }) =>
    this.logger.warn({ left_out: suppressed }, 'More events with invalid Stripe signatures were rejected.'),
  );

  /** @param reason one line */
  note(reason: string): void {
    if (this.lines.admit(ALL))
      this.logger.warn(`Rejected an event with an invalid or expired Stripe signature: ${reason}`);
  }

  onApplicationShutdown(): void {
    this.lines.end();
  }
}
