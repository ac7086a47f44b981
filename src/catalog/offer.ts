import { Injectable } from '@nestjs/common';
import type { ProtocolId } from '../protocols/contract/index.js';
import { DEFAULT_GROUP } from './catalog.editor.js';
import type { CatalogGroup, CatalogModel } from './catalog.js';
import { CatalogService } from './catalog.service.js';

/** A model that can be called now in a group. */
export interface OfferedModel {
  readonly model: CatalogModel;
  /** The dialects that the group's channels for it speak, in alphabetical order; at least one. */
  readonly protocols: readonly ProtocolId[];
  /** It answers in every other dialect too: calls are translated. */
  readonly translates: boolean;
}

type Serving = (group: string, model: string) => Pick<OfferedModel, 'protocols' | 'translates'>;

/** The user who asks; undefined when nobody is signed in. */
type Viewer = { readonly groupName: string | undefined } | undefined;

/** What people can choose from: the one answer to it for keys, prices and `GET /v1/models`. */
@Injectable()
export class Offer {
  private serving: Serving = () => ({ protocols: [], translates: false });

  constructor(private readonly catalog: CatalogService) {}

  /** Said once, at start, by whoever knows the channels: which dialects a model can be had in, in a group, now. */
  servedBy(serving: Serving): void {
    this.serving = serving;
  }

  /**
   * The groups that the viewer may choose for a key, their own first, the others by what they cost. Their own they may
   * always choose, since it was given to them; of the others, those that are for everyone.
   */
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

  /** The models that can be called under the group now, newest first, then by name. None when it is switched off. */
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

/** The group that the viewer's calls are billed under when their key names none. */
export const groupOfViewer = (viewer: Viewer): string => viewer?.groupName ?? DEFAULT_GROUP;

const byName = (one: OfferedModel, other: OfferedModel): number => one.model.name.localeCompare(other.model.name);
