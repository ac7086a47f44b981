import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { CatalogEditor } from '../../index.js';
import type { ChannelDefinition } from '../channel-definition.js';
import { type ChannelRecord, recordOf } from '../channel-record.js';
import { type ChangedChannel, ChannelEditor } from '../channel.editor.js';
import type { StoredCredential } from '../channel.entity.js';
import { SecretNotStored } from '../credential-store.js';
import { CredentialReader } from '../credential-reader.js';
import { ChangedMeanwhile, RefusedEntries } from './catalog-changes.js';
import { CatalogImport } from './catalog-import.service.js';
import type { DefaultAuth } from './definitions-from-entries.js';
import { definedCredentials, type EditedChannel, entryOf } from './edited-channel.js';
import type { EntryError } from './invalid-catalog.js';
import { readEntries } from './read-catalog-file.js';

/**
 * Channels one by one, as an operator sees and changes them: under the rules of the catalog file, and beyond it what a file
 * cannot say, because it knows channels by their names alone.
 */
@Injectable()
export class ChannelChanges {
  constructor(
    private readonly imports: CatalogImport,
    private readonly catalog: CatalogEditor,
    private readonly channels: ChannelEditor,
    private readonly reader: CredentialReader,
    private readonly dataSource: DataSource,
  ) {}

  /** By name, switched off or not. */
  async all(): Promise<readonly ChannelRecord[]> {
    const channels = await this.channels.all(this.dataSource.manager);
    return channels.map((channel) => recordOf(channel, this.reader));
  }

  /** @throws AppError not_found */
  async find(id: string): Promise<ChannelRecord> {
    return recordOf(await this.channels.find(id, this.dataSource.manager), this.reader);
  }

  /**
   * Stores it as it was edited; one that is switched off stays so.
   * @throws RefusedEntries, ChangedMeanwhile; AppError naming the field `name` when another channel has it
   */
  async save(edited: EditedChannel, protocols: DefaultAuth): Promise<ChangedChannel> {
    const stored = edited.id === undefined ? [] : await this.credentialsOf(edited.id, this.dataSource.manager);
    const { entries, faults } = readEntries({ channels: [entryOf(edited, stored)] });
    if (faults.length > 0) throw new RefusedEntries(faults);
    let saved: ChangedChannel | undefined;
    await this.imports.applyEntries(entries, {
      prune: false,
      protocols,
      refusal: (more) => new RefusedEntries(more),
      unless: (manager) => this.isAsSeen(edited, manager),
      putChannels: async (definitions, manager) => {
        saved = await this.put(edited, definitions, manager);
        return saved.changes;
      },
    });
    return saved ?? { id: edited.id ?? '', changes: [] };
  }

  /** Calls in progress finish first. @throws AppError not_found */
  async setEnabled(id: string, enabled: boolean): Promise<void> {
    await this.catalog.change((manager) => this.channels.setEnabled(id, enabled, manager));
  }

  /** For good, its secrets too; what calls say of it stays, and its name is free. @throws AppError not_found */
  async delete(id: string): Promise<void> {
    await this.catalog.change((manager) => this.channels.delete(id, manager));
  }

  private async put(
    { id, credentials, entry }: EditedChannel,
    [definition]: readonly ChannelDefinition[],
    manager: EntityManager,
  ): Promise<ChangedChannel> {
    if (definition === undefined) return { id: id ?? '', changes: [] };
    const before = id === undefined ? undefined : await this.channels.find(id, manager);
    const edited = { ...definition, credentials: definedCredentials(credentials, before?.credentials ?? []) };
    // An edit that says nothing of costs leaves them as they are, but for models that are served no more.
    const costs = 'costs' in entry ? definition.costs : costsOf(edited.models, before?.costs ?? {});
    try {
      return await this.channels.save(id, { ...edited, costs }, manager);
    } catch (error) {
      throw error instanceof SecretNotStored ? new RefusedEntries([NOT_KEPT]) : error;
    }
  }

  private async isAsSeen({ id, revision, entry }: EditedChannel, manager: EntityManager): Promise<void> {
    if (id === undefined) return;
    const now = await this.channels.revisionOf(id, manager);
    if (now !== revision) throw new ChangedMeanwhile({ kind: 'channel', name: String(entry['name']), id });
  }

  private async credentialsOf(id: string, manager: EntityManager): Promise<readonly StoredCredential[]> {
    return (await this.channels.find(id, manager)).credentials;
  }
}

/** Typed where a secret is asked for, as a catalog file may have it. */
const NOT_KEPT: EntryError = {
  path: 'channels[0].credentials',
  message: 'has no stored secret for “***”',
};

const costsOf = (models: ChannelDefinition['models'], costs: ChannelDefinition['costs']): ChannelDefinition['costs'] =>
  Object.fromEntries(Object.entries(costs).filter(([model]) => model in models));
