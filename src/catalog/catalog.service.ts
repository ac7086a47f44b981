import { Injectable, Logger, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { Notifications, TOPICS, UNHEARD_CACHE_MS } from '../database/index.js';
import { Clock, reasonOf, within } from '../shared/index.js';
import { NO_USUAL_LIMITS } from '../limits/index.js';
import { CatalogReader } from './catalog.reader.js';
import type { Catalog, CatalogModel } from './catalog.js';
import { catalogAt } from './upcoming.js';

/** What else is read whenever the catalog is, in the same transaction, so that both are of one version. */
export interface CatalogFollower {
  /** Reads; the function it returns takes what was read into use and must not fail. */
  read(catalog: Catalog, manager: EntityManager): Promise<() => void>;
}

/** A model that is not stored. It belongs to every group. */
export type FallbackModel = Omit<CatalogModel, 'groups'>;

interface Fallback {
  readonly models: readonly FallbackModel[];
  readonly active: () => boolean;
}

/** How long reading may take, in ms: a connection may be open and yet say nothing ever again. */
const ANSWER_TIMEOUT_MS = 5000;
const NOTHING: Catalog = {
  version: 0n,
  groups: new Map(),
  models: new Map(),
  upcoming: [],
  usualLimits: NO_USUAL_LIMITS,
};

/**
 * The catalog in memory. Looking into it costs no query; it is at most as old as a notification takes, or one second.
 * Prices that are known in advance come into force by themselves, at their time, whether or not the database answers.
 */
@Injectable()
export class CatalogService implements OnModuleInit, OnModuleDestroy {
  private readonly logger = new Logger('Catalog');
  private readonly followers: CatalogFollower[] = [];
  private stored = NOTHING;
  private withFallback = NOTHING;
  private fallback: Fallback | undefined;
  /** The last attempt to read failed, so that what is here may be old whatever was heard. */
  private failed = false;
  private loading: Promise<void> | undefined;
  private queued: Promise<void> | undefined;
  private timer: NodeJS.Timeout | undefined;
  private stopListening = (): void => undefined;
  private closing = false;

  constructor(
    private readonly dataSource: DataSource,
    private readonly reader: CatalogReader,
    private readonly notifications: Notifications,
    private readonly clock: Clock,
  ) {}

  async onModuleInit(): Promise<void> {
    this.stopListening = this.notifications.on(TOPICS.catalog, () => this.refresh());
    this.notifications.onReconnect(() => void this.refresh());
    this.timer = setInterval(() => void this.checkUnheard(), UNHEARD_CACHE_MS).unref();
    await this.reload();
  }

  async onModuleDestroy(): Promise<void> {
    this.closing = true;
    clearInterval(this.timer);
    this.stopListening();
    await Promise.allSettled([this.loading, this.queued]);
  }

  current(): Catalog {
    if (this.stored.upcoming.length > 0) this.use(catalogAt(this.stored, this.clock.now()));
    return this.fallback?.active() === true ? this.withFallback : this.stored;
  }

  /**
   * Reads the catalog again. Whoever awaits it sees everything that was committed before the call.
   * @throws whatever the database threw; the catalog stays as it was
   */
  reload(): Promise<void> {
    if (this.loading === undefined) {
      this.loading = this.load().finally(() => (this.loading = undefined));
      return this.loading;
    }
    // A load that already runs may have looked before the change: one more follows it, for all who ask meanwhile.
    this.queued ??= this.loading
      .catch(() => undefined)
      .then(() => {
        this.queued = undefined;
        return this.reload();
      });
    return this.queued;
  }

  /** Joins every later read, and reads at once. */
  async follow(follower: CatalogFollower): Promise<void> {
    this.followers.push(follower);
    await this.reload();
  }

  /**
   * Models that exist in memory only, for as long as `active` says so, and in every group. A stored model of the same
   * name wins. Offered once; `active` is asked at every look and must be cheap.
   */
  offerFallback(models: readonly FallbackModel[], active: () => boolean): void {
    this.fallback = { models, active };
    this.withFallback = extended(this.stored, models);
  }

  private async load(): Promise<void> {
    try {
      const reading = this.dataSource.transaction('REPEATABLE READ', async (manager) => {
        const read = await this.reader.read(manager);
        const uses: (() => void)[] = [];
        for (const follower of this.followers) uses.push(await follower.read(read, manager));
        return [read, uses] as const;
      });
      const outcome = await within(reading, ANSWER_TIMEOUT_MS);
      if (outcome === undefined) throw new Error('the database did not answer');
      const [catalog, takeIntoUse] = outcome;
      this.use(catalog);
      for (const use of takeIntoUse) use();
      this.failed = false;
    } catch (error) {
      this.failed = true;
      throw error;
    }
  }

  private use(catalog: Catalog): void {
    if (catalog === this.stored) return;
    this.stored = catalog;
    this.withFallback = extended(catalog, this.fallback?.models ?? []);
  }

  /** While no notification can arrive, or one could not be followed, looks whether the version is another one. */
  private async checkUnheard(): Promise<void> {
    if ((this.notifications.connected && !this.failed) || this.loading !== undefined || this.closing) return;
    try {
      if (this.failed || (await this.reader.version(this.dataSource.manager)) !== this.stored.version)
        await this.reload();
    } catch {
      // The database is away, which its own health check tells; the next second tries again.
    }
  }

  private async refresh(): Promise<void> {
    if (!this.closing) await this.reload().catch((error: unknown) => this.warn(error));
  }

  private warn(error: unknown): void {
    this.logger.warn(`The catalog could not be read again; the one from before stays in use: ${reasonOf(error)}`);
  }
}

function extended(catalog: Catalog, models: readonly FallbackModel[]): Catalog {
  const groups = [...catalog.groups.keys()];
  const added = models.map((model): [string, CatalogModel] => [model.name, { ...model, groups }]);
  return { ...catalog, models: new Map([...added, ...catalog.models]) };
}
