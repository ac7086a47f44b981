import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { CatalogEditor } from '../../index.js';
import { type ChannelDefinition, type CredentialDefinition, familyOf } from '../channel-definition.js';
import { type ChangedChannel, ChannelEditor, type ChannelRecord, recordOf, referenceOf } from '../channel.editor.js';
import type { StoredCredential } from '../channel.entity.js';
import type { Channel, ChannelCredential } from '../channel.js';
import { credentialOf, CredentialReader, SecretNotStored } from '../credential-store.js';
import { CatalogImport, ChangedMeanwhile, RefusedEntries } from './catalog-import.service.js';
import { channelFrom, credentialFrom, type DefaultAuth } from './definitions-from-entries.js';
import { type EntryError, readEntries } from './read-catalog-file.js';
import { referenceErrors } from './references.js';

/**
 * Edits single channels with the rules of the catalog file. Unlike a file, which identifies channels by name, it can
 * rename and delete them.
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

  /** By name, including disabled ones. */
  async all(): Promise<readonly ChannelRecord[]> {
    const channels = await this.channels.all(this.dataSource.manager);
    return channels.map((channel) => recordOf(channel, this.reader));
  }

  /** @throws AppError not_found */
  async find(id: string): Promise<ChannelRecord> {
    return recordOf(await this.channels.find(id, this.dataSource.manager), this.reader);
  }

  /**
   * Saves an edited channel and its new models, all or none; a disabled channel stays disabled.
   * @throws RefusedEntries, ChangedMeanwhile; AppError for the field `name` when another channel has it
   */
  async save(edited: EditedChannel, protocols: DefaultAuth): Promise<ChangedChannel> {
    const stored = edited.id === undefined ? [] : await this.credentialsOf(edited.id, this.dataSource.manager);
    const { entries, errors } = readEntries({ models: edited.newModels ?? [], channels: [entryOf(edited, stored)] });
    if (errors.length > 0) throw new RefusedEntries(errors);
    let saved: ChangedChannel | undefined;
    await this.imports.applyEntries(entries, {
      prune: false,
      protocols,
      refusal: (more) => new RefusedEntries(more),
      unless: async (manager) => {
        await this.isAsSeen(edited, manager);
        await this.areNew(entries.models ?? [], manager);
      },
      putChannels: async (definitions, manager) => {
        saved = await this.put(edited, definitions, manager);
        return saved.changes;
      },
    });
    return saved ?? { id: edited.id ?? '', changes: [] };
  }

  /** In-flight requests finish. @throws AppError not_found */
  async setEnabled(id: string, enabled: boolean): Promise<void> {
    await this.catalog.change((manager) => this.channels.setEnabled(id, enabled, manager));
  }

  /**
   * Deletes a channel and its secrets permanently; calls keep its name, which is free again. @throws AppError not_found
   */
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
    // An edit without costs keeps them, except for models that are no longer served.
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

  /** A new model must not replace one that exists. @throws RefusedEntries */
  private async areNew(models: readonly { readonly name: string }[], manager: EntityManager): Promise<void> {
    if (models.length === 0) return;
    const stored = await this.catalog.names(manager);
    const taken = models.flatMap(({ name }, index) =>
      stored.models.has(name) ? [{ path: `models[${index}].name`, message: `already exists: ${name}` }] : [],
    );
    if (taken.length > 0) throw new RefusedEntries(taken);
  }

  private async credentialsOf(id: string, manager: EntityManager): Promise<readonly StoredCredential[]> {
    return (await this.channels.find(id, manager)).credentials;
  }
}

/** `***` was typed where a secret is required. */
const NOT_KEPT: EntryError = {
  path: 'channels[0].credentials',
  message: 'has no stored secret for “***”',
};

const costsOf = (models: ChannelDefinition['models'], costs: ChannelDefinition['costs']): ChannelDefinition['costs'] =>
  Object.fromEntries(Object.entries(costs).filter(([model]) => model in models));

const DRAFT = 'draft';
/** Errors that do not matter for probing an upstream. */
const BESIDE_THE_POINT = /^channels\[0\]\.(?:name|models|groups|costs|tier|weight|max_concurrency)\b/;

/** Unsaved channels for probing: they can be called, but receive no traffic. */
@Injectable()
export class ChannelDrafts {
  constructor(
    private readonly channels: ChannelEditor,
    private readonly reader: CredentialReader,
    private readonly dataSource: DataSource,
  ) {}

  /** Stores nothing. @throws RefusedEntries when what is needed to reach the upstream is invalid */
  async draft(edited: EditedChannel, protocols: DefaultAuth): Promise<Channel> {
    const id = edited.id ?? DRAFT;
    const stored =
      edited.id === undefined ? [] : (await this.channels.find(edited.id, this.dataSource.manager)).credentials;
    const { entries, errors } = readEntries({ channels: [entryOf(edited, stored)] });
    const [entry] = entries.channels ?? [];
    const formErrors = errors.filter(({ path }) => !BESIDE_THE_POINT.test(path));
    if (entry === undefined || formErrors.length > 0) throw new RefusedEntries(formErrors);
    const none = { groups: new Set<string>(), models: new Set<string>() };
    const more = referenceErrors({ channels: [{ ...entry, models: {} }] }, { stored: none, protocols });
    const otherErrors = more.filter(({ path }) => !BESIDE_THE_POINT.test(path));
    if (otherErrors.length > 0) throw new RefusedEntries(otherErrors);
    const definition = channelFrom({ ...entry, costs: null }, protocols);
    return {
      ...definition,
      id,
      models: new Map(),
      costs: new Map(),
      family: familyOf(definition),
      credentials: definedCredentials(edited.credentials, stored).map((credential) => this.read(credential, id)),
      unavailableReason: undefined,
    };
  }

  /** @throws RefusedEntries when the credential is unavailable here */
  private read(credential: CredentialDefinition, id: string): ChannelCredential {
    if (credential !== 'keep' && 'secret' in credential) return credentialOf(DRAFT, credential.secret);
    const stored = credential === 'keep' ? undefined : 'env' in credential ? credential : credential.stored;
    const read = this.reader.read({ id, credentials: stored === undefined ? [] : [stored] });
    const [first] = read.credentials;
    if (first !== undefined) return first;
    throw new RefusedEntries([
      { path: 'channels[0].credentials', message: `cannot be used: ${read.unavailableReason ?? 'there is none'}` },
    ]);
  }
}

/** A credential of an edited channel: a stored one, or text as in the catalog file (a secret or `env:NAME`). */
export type EditedCredential = { readonly kept: string } | { readonly text: string };

/** A channel as edited. */
export interface EditedChannel {
  /** Undefined for a new channel. */
  readonly id: string | undefined;
  /** Revision of the channel that was edited. */
  readonly revision: string | undefined;
  /** As in the catalog file, without credentials; numbers are `Numeral`s. */
  readonly entry: Readonly<Record<string, unknown>>;
  readonly credentials: readonly EditedCredential[];
  /** Models to create together with it, as in the catalog file. */
  readonly newModels?: readonly object[];
}

/** The complete entry. Kept credentials that are no longer stored are left out. */
function entryOf({ entry, credentials }: EditedChannel, stored: readonly StoredCredential[]): object {
  const texts = definedCredentials(credentials, stored).map((credential) => {
    if (credential === 'keep' || 'secret' in credential)
      return credential === 'keep' ? '***' : credential.secret.reveal();
    return 'env' in credential ? `env:${credential.env}` : textOfStored(credential.stored);
  });
  return { ...entry, ...(texts.length > 0 && { credentials: texts }) };
}

const textOfStored = (stored: StoredCredential): string => ('env' in stored ? `env:${stored.env}` : '***');

/** Definitions of the credentials. */
const definedCredentials = (
  credentials: readonly EditedCredential[],
  stored: readonly StoredCredential[],
): readonly CredentialDefinition[] =>
  credentials.flatMap((credential): CredentialDefinition[] => {
    if ('text' in credential) return [credentialFrom(credential.text)];
    const kept = stored.find((one) => referenceOf(one) === credential.kept);
    return kept === undefined ? [] : [{ stored: kept }];
  });
