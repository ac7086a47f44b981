import { Injectable } from '@nestjs/common';
import type { Visitor } from '../../auth/index.js';
import { type CatalogGroup, CatalogService, Offer } from '../../catalog/index.js';
import type { KeyTeam, OwnKey } from '../../keys/index.js';
import { BaseAddress } from '../../platform/config/index.js';
import { times } from '../../platform/format/index.js';
import { type Limits, ownOrDefault } from '../../platform/limits/index.js';
import { type ClientTab, clientSnippets } from '../web/index.js';

interface Option {
  readonly value: string;
  readonly label: string;
  readonly text?: string;
}

const UNAVAILABLE = 'currently unavailable';

/** Options of the key form, including those the key has that are no longer offered. */
@Injectable()
export class KeyChoices {
  constructor(
    private readonly offer: Offer,
    private readonly catalog: CatalogService,
    private readonly address: BaseAddress,
  ) {}

  defaultLimits(): Limits {
    return this.catalog.current().defaultLimits.key;
  }

  effectiveLimits({ limits }: OwnKey): Limits {
    return ownOrDefault(limits, this.defaultLimits());
  }

  /** @param team of the key, which narrows them */
  groups(visitor: Visitor, team: KeyTeam | undefined, key?: OwnKey): readonly Option[] {
    const offered = this.groupsFor(visitor, team).map((group) => ({ value: group.name, label: groupText(group) }));
    if (key === undefined || offered.some(({ value }) => value === key.group)) return offered;
    return [{ value: key.group, label: `${key.group}, ${UNAVAILABLE}` }, ...offered];
  }

  groupsHint(visitor: Visitor, team: KeyTeam | undefined): string {
    const described = this.groupsFor(visitor, team).filter(({ description }) => description !== '');
    return described.map(({ name, description }) => `${name}: ${description}`).join(' · ');
  }

  /** Models of all groups, because the group is chosen on the same page. */
  models(visitor: Visitor, team: KeyTeam | undefined, key?: OwnKey): readonly Option[] {
    const groups = this.groupsFor(visitor, team);
    const groupsOf = new Map<string, string[]>();
    for (const { name } of groups)
      for (const { model } of this.offer.modelsOf(name))
        if (team?.models?.includes(model.name) ?? true)
          groupsOf.set(model.name, [...(groupsOf.get(model.name) ?? []), name]);
    const offered = [...groupsOf].map(([value, of]) => ({
      value,
      label: value,
      ...(of.length < groups.length && { text: `only in ${of.join(', ')}` }),
    }));
    const gone = (key?.models ?? []).filter((model) => !groupsOf.has(model));
    return [...offered, ...gone.map((value) => ({ value, label: value, text: UNAVAILABLE }))];
  }

  private groupsFor(visitor: Visitor, team: KeyTeam | undefined): readonly CatalogGroup[] {
    return this.offer.groupsFor(visitor).filter(({ name }) => team?.groups?.includes(name) ?? true);
  }

  groupOf({ group }: OwnKey): string {
    const found = this.catalog.current().groups.get(group);
    return found === undefined ? `${group}, ${UNAVAILABLE}` : groupText(found);
  }

  /** Client snippets for the models that the key can call. */
  snippets({ group, models }: OwnKey): readonly ClientTab[] {
    const reachable = this.offer
      .modelsOf(group)
      .map(({ model, ...support }) => ({ name: model.name, ...support }))
      .filter(({ name }) => models?.includes(name) ?? true);
    return clientSnippets(this.address.current(), reachable);
  }
}

/** `saver, × 0.80`. */
const groupText = ({ name, multiplier }: CatalogGroup): string => `${name}, ${times(multiplier)}`;
