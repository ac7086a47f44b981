import { Injectable, Logger, type OnModuleDestroy } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { isIPv4 } from 'node:net';
import { ADVISORY_LOCKS, soleTransaction } from '../../platform/database/index.js';
import {
  Clock,
  monotonicMs,
  nanos,
  type Nanos,
  networkOf,
  reasonOf,
  RecurringWork,
  ZERO,
} from '../../platform/shared/index.js';
import { KeyUseRollups, KeyUsesReader, type Query } from '../../usage/index.js';
import {
  type AddressUse,
  KeyNetworks,
  LEARNING_DAYS,
  type NetworkUse,
  newNetworks,
} from './key-networks.repository.js';
import { KeyNotices } from './key-notices.js';

/**
 * No call is recorded this long after its start without having been visible as running, whatever the clocks of
 * processes say.
 */
const OVERLAP_MS = 2 * 60_000;

/** Learns from which networks keys are used, and reports new ones. */
@Injectable()
export class NetworkWatch {
  constructor(
    private readonly dataSource: DataSource,
    private readonly networks: KeyNetworks,
    private readonly notices: KeyNotices,
    private readonly clock: Clock,
  ) {}

  /** Scans calls since the last scan, unless another process does. */
  scan(): Promise<void> {
    return soleTransaction(this.dataSource, ADVISORY_LOCKS.keyWatch, async (manager) => {
      const now = this.clock.date();
      const checkpoint = await this.networks.checkpoint(manager);
      const since = new Date(checkpoint.until.getTime() - OVERLAP_MS);
      await this.learn(groupByNetwork(await this.networks.uses(since, checkpoint, manager)), now, manager);
      await this.networks.saveCheckpoint(now, checkpoint, manager);
    });
  }

  /** Forgets networks that were not used for a long time. Reads all networks, so it runs rarely. */
  deleteOld(): Promise<void> {
    return this.networks.deleteOld(this.dataSource.manager);
  }

  private async learn(uses: readonly NetworkUse[], now: Date, manager: EntityManager): Promise<void> {
    const fresh = await this.networks.refresh(uses, manager);
    const keyIds = [...new Set(fresh.map(({ keyId }) => keyId))];
    for (const [id, key] of await this.networks.known(keyIds, manager)) {
      const ofKey = fresh.filter(({ keyId }) => keyId === id);
      for (const { use, notified } of newNetworks(ofKey, key, now)) {
        await this.networks.add(use, manager);
        if (notified) await this.notify(use, key.accountId, manager);
      }
    }
  }

  private notify({ keyId, network, address, firstAt }: NetworkUse, accountId: string, manager: EntityManager) {
    // A forgotten network can be reported again.
    const occasion = `${network} ${firstAt.toISOString().slice(0, 10)}`;
    return this.notices.add(
      { kind: 'new-network', accountId, keyId, occasion, at: firstAt, address, network },
      manager,
    );
  }
}

/** One per key and network, with the first address. */
function groupByNetwork(uses: readonly AddressUse[]): readonly NetworkUse[] {
  const found = new Map<string, NetworkUse>();
  for (const use of uses) {
    const network = networkOfAddress(use.address);
    if (network === undefined) continue;
    const name = `${use.keyId} ${network}`;
    const before = found.get(name) ?? { ...use, network };
    const first = use.firstAt < before.firstAt ? use : before;
    const lastAt = use.lastAt > before.lastAt ? use.lastAt : before.lastAt;
    found.set(name, { keyId: use.keyId, network, address: first.address, firstAt: first.firstAt, lastAt });
  }
  return [...found.values()];
}

/**
 * The network of an address: /24 for IPv4, /64 for IPv6. A home, office or machine usually gets its addresses from one
 * of these, so a new address in a known one means nothing.
 * @param address as recorded with calls; undefined if empty
 */
export function networkOfAddress(address: string): string | undefined {
  if (address === '') return undefined;
  const plain = networkOf(address);
  return isIPv4(plain) ? plain.replace(/\d+$/, '0/24') : plain;
}

const HOUR_MS = 60 * 60 * 1000;
const DAY_MS = 24 * HOUR_MS;

/** Uses the index of calls by time: reads all calls of an hour, and keeps the few keys that spend much. */
const TOP_SPENDERS = `
  SELECT k.id, k.account_id AS "accountId", u.spent,
         (SELECT min(n.first_at) FROM key_networks n WHERE n.key_id = k.id) AS since
    FROM (SELECT key_id, sum(cost) AS spent FROM calls
           WHERE created_at >= $1::timestamptz AND created_at < $2::timestamptz
           GROUP BY 1 HAVING sum(cost) >= $3) u
    JOIN api_keys k ON k.id = u.key_id AND k.state = 'enabled'`;

interface SpendingKey {
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
  scan(): Promise<void> {
    return soleTransaction(this.dataSource, ADVISORY_LOCKS.keyWatch, async (manager) => {
      const now = this.clock.date();
      const hourAgo = new Date(now.getTime() - HOUR_MS);
      const times = [hourAgo.toISOString(), now.toISOString()];
      const spenders = await manager.query<SpendingKey[]>(TOP_SPENDERS, [...times, MIN_UNUSUAL_NANOS.toString()]);
      const notified = await this.notices.notifiedOfVolume(
        spenders.map(({ id }) => id),
        manager,
      );
      for (const spender of spenders) if (!notified.has(spender.id)) await this.check(spender, now, manager);
    });
  }

  private async check(spender: SpendingKey, now: Date, manager: EntityManager): Promise<void> {
    const { id: keyId, accountId, since } = spender;
    const spent = nanos(BigInt(spender.spent));
    const hours = await this.hoursBefore({ accountId, id: keyId }, now, manager);
    const previousMax = unusualThreshold({ lastHour: spent, hours, since: since ?? undefined }, now);
    if (previousMax === undefined) return;
    const occasion = now.toISOString();
    await this.notices.add(
      { kind: 'unusual-volume', accountId, keyId, occasion, at: now, spent, usual: previousMax },
      manager,
    );
  }

  private hoursBefore(
    key: { readonly accountId: string; readonly id: string },
    now: Date,
    manager: EntityManager,
  ): Promise<readonly Nanos[]> {
    const query: Query = (sql, values = []) => manager.query(sql, [...values]);
    const to = new Date(now.getTime() - HOUR_MS);
    return this.uses.costsByHour(query, key, { from: new Date(to.getTime() - BASELINE_DAYS * DAY_MS), to });
  }
}

/** Smaller amounts are never reported, whatever the factor. */
const MIN_UNUSUAL_NANOS = nanos(5_000_000_000n);
/** Busy days are two or three times the average; runaway or stolen keys usually exceed that. */
const UNUSUAL_FACTOR = 5n;
/** How far back the most expensive hour is searched: two of each weekday. */
const BASELINE_DAYS = 14;

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
  const previousMax = hours.reduce((largest, hour) => (hour > largest ? hour : largest), ZERO);
  return lastHour >= MIN_UNUSUAL_NANOS && lastHour > UNUSUAL_FACTOR * previousMax ? previousMax : undefined;
}

/** Intervals of the scans, in ms. Tests override them. */
export class KeyWatchTimings {
  /** For networks: a first use is reported within a minute. */
  readonly scanEveryMs: number = 20_000;
  /** For volumes, which requires reading all calls of the last hour. */
  readonly volumesEveryMs: number = 5 * 60_000;
}

/**
 * Rolls up key usage and reports unusual use, in the background. All serving processes try; one at a time runs it.
 * Failures are retried in the next run.
 */
@Injectable()
export class KeyWatch implements OnModuleDestroy {
  private readonly logger = new Logger('KeyWatch');
  private readonly work = new RecurringWork({
    run: async (stopped) => {
      await this.scan(stopped);
      return this.timings.scanEveryMs;
    },
    afterFailureMs: 20_000,
    report: (error) => this.logger.error(`Failed to check key usage; retrying: ${reasonOf(error)}`),
  });
  private volumesMs = -Infinity;

  constructor(
    private readonly rollups: KeyUseRollups,
    private readonly networks: NetworkWatch,
    private readonly volumes: VolumeWatch,
    private readonly timings: KeyWatchTimings,
  ) {}

  /** Called by serving processes. */
  start(): void {
    this.work.start();
  }

  onModuleDestroy(): Promise<void> {
    return this.work.stop();
  }

  /** One run. @throws when the database is unavailable */
  async scan(stopped?: AbortSignal): Promise<void> {
    // Rollups first: after an upgrade, everything not rolled up would look new.
    while (!(await this.rollups.step())) if (stopped?.aborted === true) return;
    await this.networks.scan();
    if (monotonicMs() - this.volumesMs < this.timings.volumesEveryMs) return;
    await this.volumes.scan();
    await this.networks.deleteOld();
    this.volumesMs = monotonicMs();
  }
}
