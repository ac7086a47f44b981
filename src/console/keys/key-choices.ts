import { Injectable } from '@nestjs/common';
import { CatalogService, Offer } from '../../catalog/index.js';
import { type Limits, ownOrDefault } from '../../platform/limits/index.js';
import type { Reachable } from '../web/index.js';
import type { Visitor } from '../../auth/index.js';
import type { OwnKey } from '../../keys/index.js';
import { groupText } from './key-facts.js';

interface Option {
  readonly value: string;
  readonly label: string;
  readonly text?: string;
}

const GONE = 'currently unavailable';

/** What can be chosen for a key, with what it has already though it is offered no more. */
@Injectable()
export class KeyChoices {
  constructor(
    private readonly offer: Offer,
    private readonly catalog: CatalogService,
  ) {}

  /** Limits that a key has where it has none of its own. */
  usualLimits(): Limits {
    return this.catalog.current().usualLimits.key;
  }

  /** Limits that hold of a key. */
  limitsOf({ limits }: OwnKey): Limits {
    return ownOrDefault(limits, this.usualLimits());
  }

  groups(visitor: Visitor, key?: OwnKey): readonly Option[] {
    const offered = this.offer.groupsFor(visitor).map((group) => ({ value: group.name, label: groupText(group) }));
    if (key === undefined || offered.some(({ value }) => value === key.group)) return offered;
    return [{ value: key.group, label: `${key.group}, ${GONE}` }, ...offered];
  }

  /** What the groups are for, as far as the operator has said. */
  groupsHint(visitor: Visitor): string {
    const described = this.offer.groupsFor(visitor).filter(({ description }) => description !== '');
    return described.map(({ name, description }) => `${name}: ${description}`).join(' · ');
  }

  /** Of all groups, since the group is chosen on the same page; which ones, where it is not all. */
  models(visitor: Visitor, key?: OwnKey): readonly Option[] {
    const groups = this.offer.groupsFor(visitor);
    const groupsOf = new Map<string, string[]>();
    for (const { name } of groups)
      for (const { model } of this.offer.modelsOf(name))
        groupsOf.set(model.name, [...(groupsOf.get(model.name) ?? []), name]);
    const offered = [...groupsOf].map(([value, of]) => ({
      value,
      label: value,
      ...(of.length < groups.length && { text: `only ${of.join(', ')}` }),
    }));
    const gone = (key?.models ?? []).filter((model) => !groupsOf.has(model));
    return [...offered, ...gone.map((value) => ({ value, label: value, text: GONE }))];
  }

  /** The group that the key is billed under, as it is shown. */
  groupOf({ group }: OwnKey): string {
    const found = this.catalog.current().groups.get(group);
    return found === undefined ? `${group}, ${GONE}` : groupText(found);
  }

  /** What can be called with the key now, and in which dialects. */
  reachable({ group, models }: Pick<OwnKey, 'group' | 'models'>): readonly Reachable[] {
    return this.offer
      .modelsOf(group)
      .map(({ model, ...answers }) => ({ name: model.name, ...answers }))
      .filter(({ name }) => models?.includes(name) ?? true);
  }
}
