import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { CatalogEditor, type GroupDefinition, type KnownModel, type Subject } from '../../index.js';
import type { Limits, DefaultLimits } from '../../../platform/limits/index.js';
import { AppError } from '../../../platform/shared/index.js';
import { ChannelEditor } from '../channel.editor.js';

/** The catalog at one moment, including disabled objects, and enabled channels. */
export interface Inventory {
  readonly groups: readonly GroupDefinition[];
  readonly models: readonly KnownModel[];
  readonly channels: readonly ListedChannel[];
}

interface ListedChannel {
  readonly name: string;
  /** Public model names. */
  readonly models: readonly string[];
  readonly groups: readonly string[];
}

/** An object and its revision. */
export interface Seen<Thing> {
  readonly thing: Thing;
  readonly revision: string;
  readonly inventory: Inventory;
}

/** The stored catalog, for editing. */
@Injectable()
export class CatalogInventory {
  constructor(
    private readonly dataSource: DataSource,
    private readonly catalog: CatalogEditor,
    private readonly channels: ChannelEditor,
  ) {}

  async all(): Promise<Inventory> {
    return (await this.see()).inventory;
  }

  /** @throws AppError not_found */
  async model(name: string): Promise<Seen<KnownModel>> {
    const { inventory, revision } = await this.see({ kind: 'model', name });
    return { thing: found(inventory.models, name, 'model'), revision, inventory };
  }

  /** @throws AppError not_found */
  async group(name: string): Promise<Seen<GroupDefinition>> {
    const { inventory, revision } = await this.see({ kind: 'group', name });
    return { thing: found(inventory.groups, name, 'group'), revision, inventory };
  }

  /** Default limits of a kind. */
  usualLimits(kind: keyof DefaultLimits): Promise<{ readonly limits: Limits; readonly revision: string }> {
    return this.dataSource.transaction('REPEATABLE READ', async (manager) => {
      const limits = (await this.catalog.usualLimits(manager))[kind];
      const revision = await this.catalog.revisionOf({ kind: 'limits', name: kind, id: kind }, manager);
      return { limits, revision: revision ?? '' };
    });
  }

  private see(subject?: Subject): Promise<{ readonly inventory: Inventory; readonly revision: string }> {
    return this.dataSource.transaction('REPEATABLE READ', async (manager) => {
      const content = await this.catalog.everything(manager);
      const channels = (await this.channels.stored(manager)).map(({ name, models, groups }) => ({
        name,
        models: Object.keys(models),
        groups,
      }));
      const revision = subject && (await this.catalog.revisionOf(subject, manager));
      return { inventory: { ...content, channels }, revision: revision ?? '' };
    });
  }
}

function found<Thing extends { readonly name: string }>(things: readonly Thing[], name: string, kind: string): Thing {
  const thing = things.find((one) => one.name === name);
  if (thing === undefined) throw new AppError('not_found', `${kind} “${name}” not found.`);
  return thing;
}
