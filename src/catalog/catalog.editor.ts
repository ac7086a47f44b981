import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { Notifications, TOPICS } from '../platform/database/index.js';
import { type Limits, NO_LIMITS, DEFAULT_LIMITED, type DefaultLimits } from '../platform/limits/index.js';
import { CatalogRepository, type StoredModel } from './catalog.repository.js';
import {
  CatalogAudit,
  type Change,
  type ChangedItem,
  describeChanges,
  difference,
  type Facts,
  lineOf,
  replaceAll,
  revisionOf,
} from './changes.js';
import {
  type GroupDefinition,
  groupDefinitionOf,
  groupFacts,
  limitFacts,
  type ModelDefinition,
  modelFacts,
  priceFacts,
} from './definitions.js';
import { PriceEditor } from './price-editor.js';

/** The group of calls whose key and account name none; it cannot be disabled. */
export const DEFAULT_GROUP = 'default';

/** A stored model. */
export interface KnownModel {
  readonly name: string;
  readonly ownedBy: string;
  readonly enabled: boolean;
  /** Undefined for a model without prices, which only external writes can create. */
  readonly definition: ModelDefinition | undefined;
  /** Current prices; undefined if the first prices begin later. */
  readonly price: { readonly number: number; readonly validFrom: Date } | undefined;
}

interface CatalogContent {
  readonly groups: readonly GroupDefinition[];
  readonly models: readonly KnownModel[];
}

/** References to groups, and to models as the keys of a mapping. */
interface Naming {
  readonly groups: readonly string[];
  readonly models: Readonly<Record<string, unknown>>;
}

/** Everything enabled or referenced by something enabled. */
interface CatalogDefinitions {
  readonly groups: readonly GroupDefinition[];
  readonly models: readonly ModelDefinition[];
  readonly defaultLimits: DefaultLimits;
}

const LIMITS_OF: Readonly<Record<keyof DefaultLimits, string>> = {
  key: 'a key',
  account: 'an account',
  address: 'an address',
};

/** Names of everything stored, including disabled objects. */
export interface CatalogNames {
  readonly groups: ReadonlySet<string>;
  readonly models: ReadonlySet<string>;
}

/** Changes groups, models and prices. All changes go through `change`, which notifies all processes. */
@Injectable()
export class CatalogEditor {
  constructor(
    private readonly dataSource: DataSource,
    private readonly repository: CatalogRepository,
    private readonly notifications: Notifications,
    private readonly audit: CatalogAudit,
    private readonly prices: PriceEditor,
  ) {}

  /**
   * Runs changes of the catalog or of channels as one transaction, serialized across processes. If `work` returns
   * changes, the catalog version is incremented and all processes are notified on commit.
   * @param work returns the changes; its errors roll everything back
   * @param reason the administrator's reason, for the audit log
   */
  change(work: (manager: EntityManager) => Promise<readonly Change[]>, reason = ''): Promise<readonly string[]> {
    return this.dataSource.transaction(async (manager) => {
      await this.repository.lock(manager);
      const changes = await work(manager);
      if (changes.length === 0) return [];
      await this.audit.record(changes, reason, manager);
      const version = await this.repository.raiseVersion(manager);
      await this.notifications.publish(TOPICS.catalog, { version: String(version) }, manager);
      return changes.map(lineOf);
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

  /** Hash of a group, of a model with its prices, or of default limits; undefined if it does not exist. */
  async revisionOf({ kind, name, id = name }: ChangedItem, manager: EntityManager): Promise<string | undefined> {
    if (kind === 'group') {
      const group = (await this.repository.groups(manager)).find((one) => one.name === name);
      return group && revisionOf({ ...groupFacts(groupDefinitionOf(group)), enabled: String(group.enabled) });
    }
    if (kind === 'model') {
      const stored = (await this.repository.models(manager)).find(({ model }) => model.name === name);
      return stored && revisionOf(storedModelFacts(stored));
    }
    const stored = await this.repository.defaultLimits(manager);
    const subject = DEFAULT_LIMITED.find((one) => one === id);
    return subject && revisionOf(limitFacts(stored[subject]));
  }

  defaultLimits(manager: EntityManager): Promise<DefaultLimits> {
    return this.repository.defaultLimits(manager);
  }

  /** Everything stored by name, including disabled objects. */
  async everything(manager: EntityManager): Promise<CatalogContent> {
    const groups = await this.repository.groups(manager);
    const models = await this.repository.models(manager);
    return { groups: groups.map(groupDefinitionOf), models: models.map(contentOf) };
  }

  /** @param channels what they reference is included even if disabled, and so is what models and groups reference */
  async definitions(manager: EntityManager, channels: readonly Naming[]): Promise<CatalogDefinitions> {
    const groups = (await this.repository.groups(manager)).map(groupDefinitionOf);
    const models = (await this.repository.models(manager)).flatMap(definitionsOf);
    const namedGroups = new Set([...channels, ...models].flatMap((one) => one.groups));
    const namedModels = new Set([...channels, ...groups].flatMap((one) => Object.keys(one.models)));
    return {
      groups: groups.filter(({ enabled, name }) => enabled || namedGroups.has(name)),
      models: models.filter(({ enabled, name }) => enabled || namedModels.has(name)),
      defaultLimits: await this.repository.defaultLimits(manager),
    };
  }

  /** Applies group definitions. With `prune`, disables all others except the default group. */
  async replaceGroups(
    definitions: readonly GroupDefinition[],
    prune: boolean,
    manager: EntityManager,
  ): Promise<Change[]> {
    return replaceAll(definitions, {
      kind: 'group',
      stored: await this.repository.groups(manager),
      put: async (definition, before) => {
        const subject: ChangedItem = { kind: 'group', name: definition.name };
        const lines = difference(
          subject,
          before,
          before && groupFacts(groupDefinitionOf(before)),
          groupFacts(definition),
          definition.enabled,
        );
        if (lines.length > 0) await this.repository.putGroup(definition, manager);
        return lines;
      },
      disable: ({ name }) => this.repository.disableGroup(name, manager),
      prune: ({ name }) => prune && name !== DEFAULT_GROUP,
    });
  }

  /** Applies default limits of each given kind as a whole. With `prune`, removes those of other kinds. */
  async replaceDefaultLimits(
    definitions: Readonly<Partial<DefaultLimits>>,
    prune: boolean,
    manager: EntityManager,
  ): Promise<Change[]> {
    const stored = await this.repository.defaultLimits(manager);
    const changes: Change[] = [];
    for (const subject of DEFAULT_LIMITED) {
      const limits: Limits = definitions[subject] ?? (prune ? NO_LIMITS : stored[subject]);
      const lines = describeChanges(
        { kind: 'limits', name: LIMITS_OF[subject], id: subject },
        limitFacts(stored[subject]),
        limitFacts(limits),
      );
      if (lines.length > 0) await this.repository.putDefaultLimits(subject, limits, manager);
      changes.push(...lines);
    }
    return changes;
  }

  /**
   * Applies model definitions; changed prices begin at their time. With `prune`, disables all others.
   * @param reason reason of price changes
   */
  async replaceModels(
    definitions: readonly ModelDefinition[],
    prune: boolean,
    manager: EntityManager,
    reason?: string,
  ): Promise<Change[]> {
    const stored = await this.repository.models(manager);
    const byName = new Map(stored.map((one) => [one.model.name, one]));
    return replaceAll(definitions, {
      kind: 'model',
      stored: stored.map(({ model }) => model),
      put: (definition) => this.putModel(definition, byName.get(definition.name), reason, manager),
      disable: ({ name }) => this.repository.disableModel(name, manager),
      prune: () => prune,
    });
  }

  /** Adds models to a group, or removes them. Names that are not stored are ignored. @returns the changes */
  async moveModels(move: GroupMove, manager: EntityManager): Promise<readonly Change[]> {
    const changes: Change[] = [];
    for (const { model } of await this.repository.models(manager)) {
      const groups = movedGroups(model, move);
      if (groups === undefined) continue;
      const [before, after] = [modelFacts(model), modelFacts({ ...model, groups })];
      changes.push(...describeChanges({ kind: 'model', name: model.name }, before, after));
      await this.repository.putModelGroups(model.name, groups, manager);
    }
    return changes;
  }

  private async putModel(
    definition: ModelDefinition,
    stored: StoredModel | undefined,
    reason: string | undefined,
    manager: EntityManager,
  ): Promise<readonly Change[]> {
    const subject: ChangedItem = { kind: 'model', name: definition.name };
    const before = stored && modelFacts(stored.model);
    // The first prices of a new model are part of its definition.
    const after = { ...modelFacts(definition), ...(stored === undefined && priceFacts(definition.pricing)) };
    const facts = difference(subject, stored?.model, before, after, definition.enabled);
    if (facts.length > 0) await this.repository.putModel(definition, manager);
    const prices = await this.prices.put(definition, stored, reason, manager);
    return stored === undefined ? facts : [...facts, ...prices];
  }
}

/** Things that enter and leave a group, by name. */
export interface GroupMove {
  readonly group: string;
  readonly added: ReadonlySet<string>;
  readonly removed: ReadonlySet<string>;
}

/** The groups after a move; undefined if they do not change. */
export function movedGroups(
  { name, groups }: { readonly name: string; readonly groups: readonly string[] },
  { group, added, removed }: GroupMove,
): readonly string[] | undefined {
  if (added.has(name)) return groups.includes(group) ? undefined : [...groups, group];
  return removed.has(name) && groups.includes(group) ? groups.filter((one) => one !== group) : undefined;
}

/** All facts about a model, including upcoming prices. */
const storedModelFacts = ({ model, price, upcoming }: StoredModel): Facts => ({
  ...modelFacts(model),
  enabled: String(model.enabled),
  prices: [...(price ? [price] : []), ...upcoming].map(({ id }) => id).join(),
});

const contentOf = (stored: StoredModel): KnownModel => ({
  name: stored.model.name,
  ownedBy: stored.model.ownedBy,
  enabled: stored.model.enabled,
  definition: definitionsOf(stored)[0],
  price: stored.price && { number: stored.price.number, validFrom: stored.price.validFrom },
});

/** A model whose first prices are upcoming is defined by them. */
function definitionsOf({ model, price, upcoming: versions }: StoredModel): ModelDefinition[] {
  // Of two versions with the same start, the last applies.
  const later = versions.filter(
    ({ validFrom }, index) => versions[index + 1]?.validFrom.getTime() !== validFrom.getTime(),
  );
  const [next, ...rest] = later.map(({ validFrom, pricing }) => ({ validFrom, pricing }));
  if (price !== undefined)
    return [{ ...model, pricing: price.pricing, upcoming: next === undefined ? [] : [next, ...rest] }];
  return next === undefined ? [] : [{ ...model, ...next, upcoming: rest }];
}
