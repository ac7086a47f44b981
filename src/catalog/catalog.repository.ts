import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import {
  limitColumns,
  type Limits,
  limitsIn,
  NO_DEFAULT_LIMITS,
  type DefaultLimits,
} from '../platform/limits/index.js';
import type { GroupDefinition, ModelDefinition } from './definitions.js';
import { DefaultLimitsEntity, GroupEntity, ModelEntity, PriceVersionEntity } from './catalog.entities.js';

/** A version of a model's prices, and in how many milliseconds it begins; 0 when it has. */
export type StoredPrices = PriceVersionEntity & { readonly inMs: number };

/** A version to be added. */
type NewPrices = Pick<PriceVersionEntity, 'id' | 'model' | 'pricing'> & Pick<ModelDefinition, 'validFrom'> & ChangeNote;

/** Who changes prices, and why. */
export interface ChangeNote {
  readonly author: string | undefined;
  readonly reason: string | undefined;
}

/** A model's row with its prices. */
export interface StoredModel {
  readonly model: ModelEntity;
  /** In force now; undefined for a model whose first prices are upcoming. */
  readonly price: StoredPrices | undefined;
  /** Those that begin later, in that order; of two that begin at once the last counts. */
  readonly upcoming: readonly StoredPrices[];
}

/** Groups, models and their prices in the database. Every method runs in the transaction it is given. */
@Injectable()
export class CatalogRepository {
  async version(manager: EntityManager): Promise<bigint> {
    return versionOf(await manager.query('SELECT version FROM catalog_state'));
  }

  /** Waits until no other transaction changes the catalog, and keeps others out until this one ends. */
  async lock(manager: EntityManager): Promise<void> {
    await manager.query('SELECT version FROM catalog_state FOR UPDATE');
  }

  /** @returns the new version */
  async raiseVersion(manager: EntityManager): Promise<bigint> {
    // TypeORM answers an UPDATE with the rows and their count.
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

  /** Makes the group be as defined. */
  async putGroup(definition: GroupDefinition, manager: EntityManager): Promise<void> {
    const columns = { ...definition, limits: limitColumns(definition.limits) };
    await manager.upsert(GroupEntity, columns, ['name']);
  }

  /** Makes the model be as defined; its prices stay as they are. */
  async putModel(definition: ModelDefinition, manager: EntityManager): Promise<void> {
    await manager.upsert(ModelEntity, { ...definition }, ['name']);
  }

  /**
   * The price from the given time on, from this moment when that is past or not given. This moment is the clock's and
   * not the transaction's: one that began earlier but waited for the lock would otherwise be older than what it replaces.
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

  /** Takes a version back for good. One that has begun by now stays: it may have been charged by. */
  async withdrawPriceVersion(id: string, { author, reason }: ChangeNote, manager: EntityManager): Promise<void> {
    await manager.query(
      `INSERT INTO price_withdrawals (version_id, author, reason)
       SELECT id, $2, $3 FROM price_versions WHERE id = $1 AND valid_from > clock_timestamp()
           ON CONFLICT DO NOTHING`,
      [id, author ?? null, reason ?? null],
    );
  }

  async usualLimits(manager: EntityManager): Promise<DefaultLimits> {
    const rows = await manager.find(DefaultLimitsEntity);
    const stored = Object.fromEntries(rows.map(({ subject, limits }) => [subject, limitsIn(limits)]));
    return { ...NO_DEFAULT_LIMITS, ...stored };
  }

  /** Makes them be these: what is left out is lifted. */
  async putUsualLimits(subject: keyof DefaultLimits, limits: Limits, manager: EntityManager): Promise<void> {
    await manager.update(DefaultLimitsEntity, { subject }, { limits: limitColumns(limits) });
  }

  async switchOffGroup(name: string, manager: EntityManager): Promise<void> {
    await manager.update(GroupEntity, { name }, { enabled: false });
  }

  async switchOffModel(name: string, manager: EntityManager): Promise<void> {
    await manager.update(ModelEntity, { name }, { enabled: false });
  }

  /** The version in force of each model and all later ones, by the time from which they are. One look at the clock. */
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
