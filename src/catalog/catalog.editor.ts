import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { Notifications, TOPICS } from '../database/index.js';
import { Clock, newId } from '../shared/index.js';
import { CatalogRepository } from './catalog.repository.js';
import { describeChanges, difference } from './changes.js';
import { type GroupDefinition, groupFacts, type ModelDefinition, modelFacts, priceFacts } from './definitions.js';
import type { ModelEntity } from './model.entity.js';
import type { PricingDefinition } from './pricing.js';
import { replaceAll } from './replace-all.js';

/** The group that is billed when neither key nor account names one: never switched off. */
export const DEFAULT_GROUP = 'default';

/** What is switched on, as it was defined. */
interface CatalogDefinitions {
  readonly groups: readonly GroupDefinition[];
  readonly models: readonly ModelDefinition[];
}

/** Names of everything stored, switched off or not. */
export interface CatalogNames {
  readonly groups: ReadonlySet<string>;
  readonly models: ReadonlySet<string>;
}

/** Changes groups, models and prices. Every change goes through `change`, so that all processes learn of it. */
@Injectable()
export class CatalogEditor {
  constructor(
    private readonly dataSource: DataSource,
    private readonly repository: CatalogRepository,
    private readonly notifications: Notifications,
    private readonly clock: Clock,
  ) {}

  /**
   * Runs changes of the catalog or the channels as one transaction, one at a time over all processes. When the work
   * reports changes, the catalog's version is raised and every process is told as the transaction commits.
   * @param work returns one line for each change; whatever it throws undoes everything
   */
  change(work: (manager: EntityManager) => Promise<readonly string[]>): Promise<readonly string[]> {
    return this.dataSource.transaction(async (manager) => {
      await this.repository.lock(manager);
      const changes = await work(manager);
      if (changes.length === 0) return changes;
      const version = await this.repository.raiseVersion(manager);
      await this.notifications.publish(TOPICS.catalog, { version: String(version) }, manager);
      return changes;
    });
  }

  async names(manager: EntityManager): Promise<CatalogNames> {
    const groups = await this.repository.groups(manager);
    const models = await this.repository.models(manager);
    return {
      groups: new Set(groups.map(({ name }) => name)),
      models: new Set(models.map(({ model }) => model.name)),
    };
  }

  async definitions(manager: EntityManager): Promise<CatalogDefinitions> {
    const groups = (await this.repository.groups(manager)).filter(({ enabled }) => enabled);
    const models = (await this.repository.models(manager)).filter(({ model }) => model.enabled);
    return {
      groups,
      models: models.flatMap(({ model, price }) => (price ? [{ ...model, pricing: price.pricing }] : [])),
    };
  }

  /** Makes each group be as defined. With `prune`, switches off all others but the default one. */
  async replaceGroups(
    definitions: readonly GroupDefinition[],
    prune: boolean,
    manager: EntityManager,
  ): Promise<string[]> {
    return replaceAll(definitions, {
      kind: 'group',
      stored: await this.repository.groups(manager),
      put: async (definition, before) => {
        const subject = `group ${definition.name}`;
        const lines = difference(subject, before, before && groupFacts(before), groupFacts(definition));
        if (lines.length > 0) await this.repository.putGroup(definition, manager);
        return lines;
      },
      switchOff: ({ name }) => this.repository.switchOffGroup(name, manager),
      prune: ({ name }) => prune && name !== DEFAULT_GROUP,
    });
  }

  /** Makes each model be as defined; prices that differ are in force from now on. With `prune`, switches off all others. */
  async replaceModels(
    definitions: readonly ModelDefinition[],
    prune: boolean,
    manager: EntityManager,
  ): Promise<string[]> {
    const stored = await this.repository.models(manager);
    const prices = new Map(stored.map(({ model, price }) => [model.name, price?.pricing]));
    return replaceAll(definitions, {
      kind: 'model',
      stored: stored.map(({ model }) => model),
      put: (definition, before) => this.putModel(definition, before, prices.get(definition.name), manager),
      switchOff: ({ name }) => this.repository.switchOffModel(name, manager),
      prune: () => prune,
    });
  }

  private async putModel(
    definition: ModelDefinition,
    before: ModelEntity | undefined,
    pricesBefore: PricingDefinition | undefined,
    manager: EntityManager,
  ): Promise<readonly string[]> {
    const { name, pricing } = definition;
    const subject = `model ${name}`;
    const lines = difference(subject, before, before && modelFacts(before), modelFacts(definition));
    if (lines.length > 0) await this.repository.putModel(definition, manager);
    const priceLines = describeChanges(subject, pricesBefore ? priceFacts(pricesBefore) : {}, priceFacts(pricing));
    if (priceLines.length > 0)
      await this.repository.addPriceVersion(newId('prc', this.clock.now()), name, pricing, manager);
    return before === undefined ? lines : [...lines, ...priceLines];
  }
}
