import { Injectable, Logger, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { Notifications, ReconnectingCopy, TOPICS } from '../platform/database/index.js';
import { NO_DEFAULT_LIMITS } from '../platform/limits/index.js';
import { Clock } from '../platform/shared/index.js';
import type { ProtocolId } from '../protocols/contract/index.js';
import { DEFAULT_GROUP } from './catalog.editor.js';
import type { Catalog, CatalogGroup, CatalogModel } from './catalog.js';
import { CatalogReader } from './catalog.repository.js';

/** Data that is read with the catalog in the same transaction, so that versions match. */
export interface CatalogFollower {
  /** Reads; the returned function activates the result and must not fail. */
  read(catalog: Catalog, manager: EntityManager): Promise<() => void>;
}

/** A model that is not stored; available in every group. */
export type FallbackModel = Omit<CatalogModel, 'groups'>;

interface ModelFallback {
  readonly models: readonly FallbackModel[];
  readonly active: () => boolean;
}

/** A catalog and the activations of its followers. */
type CatalogReading = readonly [catalog: Catalog, uses: readonly (() => void)[]];

const NOTHING: Catalog = {
  version: 0n,
  groups: new Map(),
  models: new Map(),
  upcoming: [],
  defaultLimits: NO_DEFAULT_LIMITS,
};

/**
 * The catalog in memory. Lookups cost no query; it is at most as old as a notification takes, or one second. Upcoming
 * prices take effect on time even if the database is down.
 */
@Injectable()
export class CatalogService implements OnModuleInit, OnModuleDestroy {
  private readonly logger = new Logger('Catalog');
  private readonly followers: CatalogFollower[] = [];
  private readonly copy: ReconnectingCopy<CatalogReading>;
  private stored = NOTHING;
  private withFallback = NOTHING;
  private fallback: ModelFallback | undefined;

  constructor(
    private readonly dataSource: DataSource,
    private readonly reader: CatalogReader,
    notifications: Notifications,
    private readonly clock: Clock,
  ) {
    this.copy = new ReconnectingCopy(notifications, {
      topic: TOPICS.catalog,
      read: () => this.read(),
      use: ([catalog, uses]) => {
        this.use(catalog);
        for (const use of uses) use();
      },
      isStale: async () => (await this.reader.version(this.dataSource.manager)) !== this.stored.version,
      warn: (reason) => this.logger.warn(`Failed to reload the catalog; using the previous one: ${reason}`),
    });
  }

  onModuleInit(): Promise<void> {
    return this.copy.open();
  }

  onModuleDestroy(): Promise<void> {
    return this.copy.close();
  }

  current(): Catalog {
    if (this.stored.upcoming.length > 0) this.use(catalogAt(this.stored, this.clock.now()));
    return this.fallback?.active() === true ? this.withFallback : this.stored;
  }

  /**
   * Reloads the catalog; the result includes everything committed before the call.
   * @throws database errors; the current catalog stays
   */
  reload(): Promise<void> {
    return this.copy.reload();
  }

  /** Adds a follower and reads immediately. */
  async follow(follower: CatalogFollower): Promise<void> {
    this.followers.push(follower);
    await this.reload();
  }

  /**
   * Adds models that exist in memory while `active` returns true, in every group. Stored models of the same name take
   * precedence. `active` is called on every lookup and must be cheap.
   */
  offerFallback(models: readonly FallbackModel[], active: () => boolean): void {
    this.fallback = { models, active };
    this.withFallback = extended(this.stored, models);
  }

  private read(): Promise<CatalogReading> {
    return this.dataSource.transaction('REPEATABLE READ', async (manager) => {
      const catalog = await this.reader.read(manager);
      const uses: (() => void)[] = [];
      for (const follower of this.followers) uses.push(await follower.read(catalog, manager));
      return [catalog, uses];
    });
  }

  private use(catalog: Catalog): void {
    if (catalog === this.stored) return;
    this.stored = catalog;
    this.withFallback = extended(catalog, this.fallback?.models ?? []);
  }
}

function extended(catalog: Catalog, models: readonly FallbackModel[]): Catalog {
  const groups = [...catalog.groups.keys()];
  const added = models.map((model): [string, CatalogModel] => [model.name, { ...model, groups }]);
  return { ...catalog, models: new Map([...added, ...catalog.models]) };
}

/**
 * The catalog at a time, with prices that have begun by then; the same object if none have. Its version does not
 * change: all processes derive the same prices.
 */
export function catalogAt(catalog: Catalog, now: number): Catalog {
  const begun = catalog.upcoming.filter(({ at }) => at <= now);
  if (begun.length === 0) return catalog;
  return {
    ...catalog,
    models: new Map([...catalog.models, ...begun.map(({ model }) => [model.name, model] as const)]),
    upcoming: catalog.upcoming.slice(begun.length),
  };
}

/** A model that is available in a group. */
export interface OfferedModel {
  readonly model: CatalogModel;
  /** Native protocols of its channels, sorted; not empty. */
  readonly protocols: readonly ProtocolId[];
  /** Whether it is also available in all other protocols by translation. */
  readonly translates: boolean;
}

type Serving = (group: string, model: string) => Pick<OfferedModel, 'protocols' | 'translates'>;

/** The signed-in user; undefined if not signed in. */
type Viewer = { readonly groupName: string | undefined } | undefined;

/** Models and groups that users can choose: for keys, prices and `GET /v1/models`. */
@Injectable()
export class Offer {
  private serving: Serving = () => ({ protocols: [], translates: false });

  constructor(private readonly catalog: CatalogService) {}

  /** Set at start by the channels: the protocols in which a group currently offers a model. */
  servedBy(serving: Serving): void {
    this.serving = serving;
  }

  /** Groups that the viewer may choose for a key: their own first, then public ones by price. */
  groupsFor(viewer: Viewer): readonly CatalogGroup[] {
    const own = groupOfViewer(viewer);
    const groups = [...this.catalog.current().groups.values()];
    return groups
      .filter(({ name, choice }) => choice === 'everyone' || name === own)
      .toSorted(
        (one, other) =>
          Number(other.name === own) - Number(one.name === own) ||
          Number(one.multiplier - other.multiplier) ||
          one.name.localeCompare(other.name),
      );
  }

  /** Available models of the group, newest first, then by name. Empty if it is disabled. */
  modelsOf(group: string): readonly OfferedModel[] {
    const { groups, models } = this.catalog.current();
    if (!groups.has(group)) return [];
    return [...models.values()]
      .filter((model) => model.enabled && model.groups.includes(group))
      .map((model) => ({ model, ...this.serving(group, model.name) }))
      .filter(({ protocols }) => protocols.length > 0)
      .toSorted((one, other) => other.model.createdAt - one.model.createdAt || byName(one, other));
  }
}

/** The default group of the viewer's calls. */
export const groupOfViewer = (viewer: Viewer): string => viewer?.groupName ?? DEFAULT_GROUP;

const byName = (one: OfferedModel, other: OfferedModel): number => one.model.name.localeCompare(other.model.name);
