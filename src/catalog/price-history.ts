import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { PricingDefinition } from './pricing.js';

/** What a model cost, costs or is to cost from a moment on. */
export interface RecordedPrices {
  readonly id: string;
  /** Counted from 1 for each model, in the order in which they were made. */
  readonly number: number;
  readonly validFrom: Date;
  readonly pricing: PricingDefinition;
  /** Who made it and when, and why: null where nobody noted it. */
  readonly author: string | null;
  readonly reason: string | null;
  readonly createdAt: Date | null;
  /** In force at the moment of the question, or still to come; all others are history. */
  readonly state: 'in-force' | 'upcoming' | 'past' | 'withdrawn';
}

/** Every version of a model's prices. */
@Injectable()
export class PriceHistory {
  constructor(private readonly dataSource: DataSource) {}

  /** Newest first; none for a model that there is not. */
  of(model: string): Promise<readonly RecordedPrices[]> {
    return this.dataSource.query<RecordedPrices[]>(
      `WITH moment AS MATERIALIZED (SELECT clock_timestamp() AS now), versions AS (
         SELECT p.*, w.version_id IS NOT NULL AS withdrawn
           FROM price_versions p LEFT JOIN price_withdrawals w ON w.version_id = p.id WHERE p.model = $1
       ), replaced AS (
         -- Of two that begin at once the last counts.
         SELECT id FROM versions v WHERE EXISTS (
           SELECT FROM versions o WHERE o.valid_from = v.valid_from AND o.number > v.number AND NOT o.withdrawn)
       ), current AS (
         SELECT id FROM versions, moment WHERE valid_from <= now AND NOT withdrawn
          ORDER BY valid_from DESC, number DESC LIMIT 1
       )
       SELECT id, number, valid_from AS "validFrom", pricing, author, reason, created_at AS "createdAt",
              CASE WHEN withdrawn THEN 'withdrawn'
                   WHEN id IN (SELECT id FROM current) THEN 'in-force'
                   WHEN valid_from > now AND id NOT IN (SELECT id FROM replaced) THEN 'upcoming'
                   ELSE 'past' END AS state
         FROM versions, moment ORDER BY number DESC`,
      [model],
    );
  }
}
