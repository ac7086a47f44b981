import { Injectable, Logger } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { Catalog, CatalogModel } from './catalog.js';
import { CatalogRepository, type StoredModel } from './catalog.repository.js';
import { groupOf } from './definitions.js';
import { parsePricing } from './pricing.js';

/** Makes the catalog of the moment from its rows. */
@Injectable()
export class CatalogReader {
  private readonly logger = new Logger('Catalog');

  constructor(private readonly repository: CatalogRepository) {}

  version(manager: EntityManager): Promise<bigint> {
    return this.repository.version(manager);
  }

  /** All queries must see one state: run it in a REPEATABLE READ transaction. */
  async read(manager: EntityManager): Promise<Catalog> {
    const version = await this.repository.version(manager);
    const groups = (await this.repository.groups(manager)).filter(({ enabled }) => enabled);
    const models = await this.repository.models(manager);
    return {
      version,
      groups: new Map(groups.map((group) => [group.name, groupOf(group)])),
      models: new Map(models.flatMap((stored) => this.modelOf(stored)).map((model) => [model.name, model])),
    };
  }

  private modelOf({ model, price }: StoredModel): CatalogModel[] {
    if (price === undefined) {
      this.logger.error(`The model ${model.name} has no price in force and is left out.`);
      return [];
    }
    const { createdAt, ...columns } = model;
    const pricing = parsePricing(price.pricing);
    return [{ ...columns, createdAt: createdAt.getTime(), pricing, priceVersionId: price.id }];
  }
}
