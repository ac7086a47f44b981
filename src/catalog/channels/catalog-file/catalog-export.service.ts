import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { CatalogEditor } from '../../index.js';
import { AppError } from '../../../platform/shared/index.js';
import { ChannelEditor } from '../channel.editor.js';
import type { ChannelEntity, StoredCredential } from '../channel.entity.js';
import { CredentialVault } from '../credential-vault.js';
import { channelEntry, groupEntry, modelEntry, defaultLimitsEntry } from './entries-from-definitions.js';
import { renderCatalog } from './render-catalog.js';

interface ExportedCatalog {
  /** The catalog file, with `***` in the place of every stored secret. */
  readonly text: string;
  /** The same file with the secrets themselves. @throws AppError naming the channel whose secret cannot be opened */
  readonly withSecrets: () => string;
}

/** Writes the catalog file that would make the catalog what it is. What is switched off is in it only where something names it. */
@Injectable()
export class CatalogExport {
  constructor(
    private readonly dataSource: DataSource,
    private readonly catalog: CatalogEditor,
    private readonly channels: ChannelEditor,
    private readonly vault: CredentialVault,
  ) {}

  async export(): Promise<ExportedCatalog> {
    const [definitions, channels] = await this.dataSource.transaction('REPEATABLE READ', async (manager) => {
      const stored = await this.channels.stored(manager);
      return [await this.catalog.definitions(manager, stored), stored] as const;
    });
    const limits = defaultLimitsEntry(definitions.usualLimits);
    const usualLimits = Object.keys(limits).length > 0 ? { limits } : {};
    const render = (credential: (stored: StoredCredential, channel: ChannelEntity) => string): string =>
      renderCatalog({
        groups: byName(definitions.groups).map(groupEntry),
        models: byName(definitions.models).map(modelEntry),
        channels: byName(channels).map((channel) =>
          channelEntry(
            channel,
            channel.credentials.map((stored) => credential(stored, channel)),
          ),
        ),
        ...usualLimits,
      });
    return {
      text: render((stored) => ('env' in stored ? `env:${stored.env}` : '***')),
      withSecrets: () =>
        render((stored, channel) => ('env' in stored ? `env:${stored.env}` : this.open(stored.sealed, channel))),
    };
  }

  private open(sealed: string, { id, name }: ChannelEntity): string {
    try {
      return this.vault.open(sealed, id).reveal();
    } catch (error) {
      throw new AppError('internal', `Channel ${name}: ${AppError.from(error).message}.`, {}, { cause: error });
    }
  }
}

/** Not as the database sorts, which may go by the rules of a language: the same catalog is the same file everywhere. */
const byName = <Named extends { readonly name: string }>(things: readonly Named[]): readonly Named[] =>
  things.toSorted((one, other) => (one.name < other.name ? -1 : 1));
