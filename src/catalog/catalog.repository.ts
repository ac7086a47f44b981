import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { GroupDefinition, ModelDefinition } from './definitions.js';
import { GroupEntity } from './group.entity.js';
import { ModelEntity } from './model.entity.js';
import { PriceVersionEntity } from './price-version.entity.js';
import type { PricingDefinition } from './pricing.js';

/** A model's row with the price version in force; none means that something other than us wrote to the tables. */
export interface StoredModel {
  readonly model: ModelEntity;
  readonly price: PriceVersionEntity | undefined;
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
    const prices = new Map((await this.pricesInForce(manager)).map((price) => [price.model, price]));
    return models.map((model) => ({ model, price: prices.get(model.name) }));
  }

  /** Makes the group be as defined, and switched on. */
  async putGroup(definition: GroupDefinition, manager: EntityManager): Promise<void> {
    await manager.upsert(GroupEntity, { ...definition, enabled: true }, ['name']);
  }

  /** Makes the model be as defined, and switched on; its prices stay as they are. */
  async putModel(definition: ModelDefinition, manager: EntityManager): Promise<void> {
    await manager.upsert(ModelEntity, { ...definition, enabled: true }, ['name']);
  }

  /**
   * The price from this moment on, which is the clock's and not the transaction's: one that began earlier but waited
   * for the lock would otherwise be older than what it replaces.
   */
  async addPriceVersion(id: string, model: string, pricing: PricingDefinition, manager: EntityManager): Promise<void> {
    await manager.query(
      'INSERT INTO price_versions (id, model, valid_from, pricing) VALUES ($1, $2, clock_timestamp(), $3)',
      [id, model, pricing],
    );
  }

  async switchOffGroup(name: string, manager: EntityManager): Promise<void> {
    await manager.update(GroupEntity, { name }, { enabled: false });
  }

  async switchOffModel(name: string, manager: EntityManager): Promise<void> {
    await manager.update(ModelEntity, { name }, { enabled: false });
  }

  private pricesInForce(manager: EntityManager): Promise<PriceVersionEntity[]> {
    return manager
      .createQueryBuilder(PriceVersionEntity, 'price')
      .distinctOn(['price.model'])
      .where('price.validFrom <= clock_timestamp()')
      .orderBy('price.model')
      .addOrderBy('price.validFrom', 'DESC')
      .addOrderBy('price.id', 'DESC')
      .getMany();
  }
}

interface VersionRow {
  readonly version: string;
}

function versionOf([row]: readonly VersionRow[]): bigint {
  if (row === undefined) throw new Error('The table catalog_state has lost its row.');
  return BigInt(row.version);
}
