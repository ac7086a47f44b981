import { Injectable } from '@nestjs/common';
import type { ProtocolId } from '../protocols/contract/index.js';
import { DEFAULT_GROUP } from './catalog.editor.js';
import type { CatalogGroup, CatalogModel } from './catalog.js';
import { CatalogService } from './catalog.service.js';

/** A model that is available in a group. */
export interface OfferedModel {
  readonly model: CatalogModel;
  /** Native protocols of its channels, sorted; not empty. */
  readonly protocols: readonly ProtocolId[];
  /** Whether it is also available in all other protocols by translation. */
  readonly translates: boolean;
}

type Serving = (group: string, model: string) => Pick<OfferedModel, 'protocols' | 'translates'>;

/** The signed-in user; undefined if nobody is. */
type Viewer = { readonly groupName: string | undefined } | undefined;

/** What users can choose: for keys, prices and `GET /v1/models`. */
@Injectable()
export class Offer {
  private serving: Serving = () => ({ protocols: [], translates: false });

  constructor(private readonly catalog: CatalogService) {}

  /** Set at start by the channels: the protocols in which a group currently offers a model. */
  servedBy(serving: Serving): void {
    this.serving = serving;
  }

  /** Groups that the viewer may choose for a key: their own first, then public ones by price. */
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

  /** Available models of the group, newest first, then by name. Empty if it is disabled. */
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

/** The default group of the viewer's calls. */
export const groupOfViewer = (viewer: Viewer): string => viewer?.groupName ?? DEFAULT_GROUP;

const byName = (one: OfferedModel, other: OfferedModel): number => one.model.name.localeCompare(other.model.name);
