import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { ADVISORY_LOCKS, soleTransaction } from '../../platform/database/index.js';
import { Clock, nanos, type Nanos, ZERO } from '../../platform/shared/index.js';
import { KeyUsesReader, type Query } from '../../usage/index.js';
import { LEARNING_DAYS } from './key-networks.repository.js';
import { KeyNotices } from './key-notices.js';

const HOUR_MS = 60 * 60 * 1000;
const DAY_MS = 24 * HOUR_MS;

/** Uses the index of calls by time: reads all calls of an hour, and keeps the few keys that spend much. */
const SPENDERS = `
  SELECT k.id, k.account_id AS "accountId", u.spent,
         (SELECT min(n.first_at) FROM key_networks n WHERE n.key_id = k.id) AS since
    FROM (SELECT key_id, sum(cost) AS spent FROM calls
           WHERE created_at >= $1::timestamptz AND created_at < $2::timestamptz
           GROUP BY 1 HAVING sum(cost) >= $3) u
    JOIN api_keys k ON k.id = u.key_id AND k.state = 'enabled'`;

interface Spender {
  readonly id: string;
  readonly accountId: string;
  readonly spent: string;
  readonly since: Date | null;
}

/** Reports keys that spend far more in an hour than ever before, at most once a day. */
@Injectable()
export class VolumeWatch {
  constructor(
    private readonly dataSource: DataSource,
    private readonly uses: KeyUsesReader,
    private readonly notices: KeyNotices,
    private readonly clock: Clock,
  ) {}

  /** Scans the last hour, unless another process does. */
  look(): Promise<void> {
    return soleTransaction(this.dataSource, ADVISORY_LOCKS.keyWatch, async (manager) => {
      const now = this.clock.date();
      const hourAgo = new Date(now.getTime() - HOUR_MS);
      const times = [hourAgo.toISOString(), now.toISOString()];
      const spenders = await manager.query<Spender[]>(SPENDERS, [...times, MIN_UNUSUAL.toString()]);
      const told = await this.notices.toldOfVolume(
        spenders.map(({ id }) => id),
        manager,
      );
      for (const spender of spenders) if (!told.has(spender.id)) await this.judge(spender, now, manager);
    });
  }

  private async judge(spender: Spender, now: Date, manager: EntityManager): Promise<void> {
    const { id: keyId, accountId, since } = spender;
    const spent = nanos(BigInt(spender.spent));
    const hours = await this.hoursBefore({ accountId, id: keyId }, now, manager);
    const usual = unusualThreshold({ lastHour: spent, hours, since: since ?? undefined }, now);
    if (usual === undefined) return;
    const occasion = now.toISOString();
    await this.notices.add({ kind: 'unusual-volume', accountId, keyId, occasion, at: now, spent, usual }, manager);
  }

  private hoursBefore(
    key: { readonly accountId: string; readonly id: string },
    now: Date,
    manager: EntityManager,
  ): Promise<readonly Nanos[]> {
    const query: Query = (sql, values = []) => manager.query(sql, [...values]);
    const to = new Date(now.getTime() - HOUR_MS);
    return this.uses.costsByHour(query, key, { from: new Date(to.getTime() - DEFAULT_DAYS * DAY_MS), to });
  }
}

/** Smaller amounts are never reported, whatever the factor. */
const MIN_UNUSUAL = nanos(5_000_000_000n);
/** Busy days are two or three times the average; runaway or stolen keys usually exceed that. */
const UNUSUAL_FACTOR = 5n;
/** How far back the most expensive hour is searched: two of each weekday. */
const DEFAULT_DAYS = 14;

/** Spending of a key. */
export interface Spending {
  /** In the last 60 minutes. */
  readonly lastHour: Nanos;
  /** Per clock hour with calls in the 14 days before. */
  readonly hours: readonly Nanos[];
  /** First use of the key, as far as remembered; undefined: never. */
  readonly since: Date | undefined;
}

/**
 * The previous maximum per hour if the last hour is far above it; undefined if it is not, or during the learning
 * period.
 */
export function unusualThreshold({ lastHour, hours, since }: Spending, now: Date): Nanos | undefined {
  if (since === undefined || now.getTime() - since.getTime() < LEARNING_DAYS * DAY_MS) return undefined;
  const usual = hours.reduce((largest, hour) => (hour > largest ? hour : largest), ZERO);
  return lastHour >= MIN_UNUSUAL && lastHour > UNUSUAL_FACTOR * usual ? usual : undefined;
}
