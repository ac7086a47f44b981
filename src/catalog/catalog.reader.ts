import { Injectable, Logger } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { Clock } from '../platform/shared/index.js';
import type { Catalog, CatalogModel } from './catalog.js';
import { CatalogRepository, type StoredModel, type StoredPrices } from './catalog.repository.js';
import { groupDefinitionOf, groupOf, reasons } from './definitions.js';
import type { ModelEntity } from './catalog.entities.js';
import { parsePricing } from './pricing.js';

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
      usualLimits: await this.repository.usualLimits(manager),
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
