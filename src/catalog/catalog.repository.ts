import { Injectable, Logger } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import {
  type DefaultLimits,
  limitColumns,
  type Limits,
  limitsIn,
  NO_DEFAULT_LIMITS,
} from '../platform/limits/index.js';
import { Clock } from '../platform/shared/index.js';
import { DefaultLimitsEntity, GroupEntity, ModelEntity, PriceVersionEntity } from './catalog.entities.js';
import type { Catalog, CatalogModel } from './catalog.js';
import { type GroupDefinition, groupDefinitionOf, groupOf, type ModelDefinition, reasons } from './definitions.js';
import { parsePricing } from './pricing.js';

/** A price version, and the milliseconds until it begins; 0 if it has begun. */
export type StoredPrices = PriceVersionEntity & { readonly inMs: number };

/** A version to insert. */
type NewPrices = Pick<PriceVersionEntity, 'id' | 'model' | 'pricing'> & Pick<ModelDefinition, 'validFrom'> & ChangeNote;

/** Author and reason of a price change. */
export interface ChangeNote {
  readonly author: string | undefined;
  readonly reason: string | undefined;
}

/** A model's row with its prices. */
export interface StoredModel {
  readonly model: ModelEntity;
  /** Current prices; undefined if the first prices are upcoming. */
  readonly price: StoredPrices | undefined;
  /** Ordered by start; of two with the same start, the last applies. */
  readonly upcoming: readonly StoredPrices[];
}

/** SQL for groups, models and prices. All methods run in the given transaction. */
@Injectable()
export class CatalogRepository {
  async version(manager: EntityManager): Promise<bigint> {
    return versionOf(await manager.query('SELECT version FROM catalog_state'));
  }

  /** Serializes changes of the catalog until the transaction ends. */
  async lock(manager: EntityManager): Promise<void> {
    await manager.query('SELECT version FROM catalog_state FOR UPDATE');
  }

  /** @returns the new version */
  async raiseVersion(manager: EntityManager): Promise<bigint> {
    // TypeORM returns rows and their number for an UPDATE.
    const [rows] = await manager.query<[VersionRow[], number]>(
      'UPDATE catalog_state SET version = version + 1 RETURNING version',
    );
    return versionOf(rows);
  }

  groups(manager: EntityManager): Promise<GroupEntity[]> {
    return manager.find(GroupEntity, { order: { name: 'ASC' } });
  }

  async models(manager: EntityManager): Promise<readonly StoredModel[]> {
    const models = await manager.find(ModelEntity, { order: { name: 'ASC' } });
    const prices = new Map<string, StoredPrices[]>();
    for (const version of await this.pricesSince(manager))
      prices.set(version.model, [...(prices.get(version.model) ?? []), version]);
    return models.map((model) => {
      const all = prices.get(model.name) ?? [];
      return { model, price: all.find(({ inMs }) => inMs === 0), upcoming: all.filter(({ inMs }) => inMs > 0) };
    });
  }

  /** Inserts or updates a group. */
  async putGroup(definition: GroupDefinition, manager: EntityManager): Promise<void> {
    const columns = { ...definition, limits: limitColumns(definition.limits) };
    await manager.upsert(GroupEntity, columns, ['name']);
  }

  /** Inserts or updates a model, without its prices. */
  async putModel(definition: ModelDefinition, manager: EntityManager): Promise<void> {
    await manager.upsert(ModelEntity, { ...definition }, ['name']);
  }

  async putModelGroups(name: string, groups: readonly string[], manager: EntityManager): Promise<void> {
    await manager.update(ModelEntity, { name }, { groups: [...groups] });
  }

  /**
   * Adds prices that begin at the given time, or now if that is absent or past. Uses the clock rather than the
   * transaction's start, which could precede the version being replaced after waiting for the lock.
   */
  async addPriceVersion(prices: NewPrices, manager: EntityManager): Promise<void> {
    const { id, model, validFrom, pricing, author, reason } = prices;
    await manager.query(
      `INSERT INTO price_versions (id, model, number, valid_from, pricing, author, reason)
       SELECT $1, $2, coalesce(max(number), 0) + 1, greatest(clock_timestamp(), $3::timestamptz), $4, $5, $6
         FROM price_versions WHERE model = $2`,
      [id, model, validFrom ?? null, pricing, author ?? null, reason ?? null],
    );
  }

  /** Withdraws an upcoming version for good. Versions that have begun stay: calls may have been charged by them. */
  async withdrawPriceVersion(id: string, { author, reason }: ChangeNote, manager: EntityManager): Promise<void> {
    await manager.query(
      `INSERT INTO price_withdrawals (version_id, author, reason)
       SELECT id, $2, $3 FROM price_versions WHERE id = $1 AND valid_from > clock_timestamp()
           ON CONFLICT DO NOTHING`,
      [id, author ?? null, reason ?? null],
    );
  }

  async defaultLimits(manager: EntityManager): Promise<DefaultLimits> {
    const rows = await manager.find(DefaultLimitsEntity);
    const stored = Object.fromEntries(rows.map(({ subject, limits }) => [subject, limitsIn(limits)]));
    return { ...NO_DEFAULT_LIMITS, ...stored };
  }

  /** Replaces default limits; absent ones are removed. */
  async putDefaultLimits(subject: keyof DefaultLimits, limits: Limits, manager: EntityManager): Promise<void> {
    await manager.update(DefaultLimitsEntity, { subject }, { limits: limitColumns(limits) });
  }

  async disableGroup(name: string, manager: EntityManager): Promise<void> {
    await manager.update(GroupEntity, { name }, { enabled: false });
  }

  async disableModel(name: string, manager: EntityManager): Promise<void> {
    await manager.update(ModelEntity, { name }, { enabled: false });
  }

  /** The current and all upcoming versions of each model, by start, evaluated at one moment. */
  private pricesSince(manager: EntityManager): Promise<StoredPrices[]> {
    return manager.query<StoredPrices[]>(`
      WITH moment AS MATERIALIZED (SELECT clock_timestamp() AS now), standing AS (
        SELECT * FROM price_versions p
        WHERE NOT EXISTS (SELECT FROM price_withdrawals w WHERE w.version_id = p.id)
      ), known AS (
        SELECT DISTINCT ON (model) id FROM standing, moment
        WHERE valid_from <= now ORDER BY model, valid_from DESC, number DESC
      )
      SELECT id, model, number, valid_from AS "validFrom", pricing, author, reason, created_at AS "createdAt",
        CASE WHEN valid_from <= now THEN 0 ELSE greatest(0.001, extract(epoch FROM valid_from - now) * 1000) END::float8
          AS "inMs"
      FROM standing, moment
      WHERE valid_from > now OR id IN (SELECT id FROM known)
      ORDER BY valid_from, number`);
  }
}

interface VersionRow {
  readonly version: string;
}

function versionOf([row]: readonly VersionRow[]): bigint {
  if (row === undefined) throw new Error('The row of catalog_state is missing.');
  return BigInt(row.version);
}

/** Builds a catalog snapshot from rows. */
@Injectable()
export class CatalogReader {
  private readonly logger = new Logger('Catalog');

  constructor(
    private readonly repository: CatalogRepository,
    private readonly clock: Clock,
  ) {}

  version(manager: EntityManager): Promise<bigint> {
    return this.repository.version(manager);
  }

  /** Requires a REPEATABLE READ transaction, so that all queries see the same state. */
  async read(manager: EntityManager): Promise<Catalog> {
    const version = await this.repository.version(manager);
    const groups = (await this.repository.groups(manager)).filter(({ enabled }) => enabled);
    const models = await this.repository.models(manager);
    const now = this.clock.now();
    const upcoming = models.flatMap(({ model, upcoming: versions }) =>
      versions.map((price) => ({ at: now + price.inMs, model: modelWith(model, price) })),
    );
    return {
      version,
      groups: new Map(groups.map((group) => [group.name, groupOf(groupDefinitionOf(group))])),
      models: new Map(models.flatMap((stored) => this.modelOf(stored)).map((model) => [model.name, model])),
      upcoming: upcoming.toSorted((one, other) => one.at - other.at),
      defaultLimits: await this.repository.defaultLimits(manager),
    };
  }

  /** A model whose first prices are upcoming starts with them. A model without prices was written externally. */
  private modelOf({ model, price, upcoming }: StoredModel): CatalogModel[] {
    if (price !== undefined) return [modelWith(model, price)];
    if (upcoming.length === 0) this.logger.error(`The model ${model.name} has no price and is skipped.`);
    return [];
  }
}

function modelWith({ createdAt, ...columns }: ModelEntity, price: StoredPrices): CatalogModel {
  return {
    ...columns,
    createdAt: createdAt.getTime(),
    hiddenTokensPerSecond: reasons(columns.capabilities) ? columns.hiddenTokensPerSecond : 0,
    pricing: parsePricing(price.pricing),
    priceVersionId: price.id,
    pricesSince: price.validFrom.getTime(),
  };
}
