import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { hash } from 'node:crypto';
import { AppError, Clock, newId } from '../../platform/shared/index.js';
import {
  type Change,
  difference,
  type GroupMove,
  listed,
  movedGroups,
  replaceAll,
  revisionOf,
  type Subject,
} from '../index.js';
import { channelEntry } from './catalog-file/entries-from-definitions.js';
import { type ChannelColumns, type ChannelDefinition, channelFacts } from './channel-definition.js';
import type { StoredCredential } from './channel.entity.js';
import { type ChannelCredential, haveSameCosts } from './channel.js';
import { ChannelRepository, type StoredChannel } from './channel.repository.js';
import { type CredentialReader, CredentialStore } from './credential-store.js';

/** Result of changing a channel. */
export interface ChangedChannel {
  readonly id: string;
  /** Empty if nothing changed. */
  readonly changes: readonly Change[];
}

/** Changes channels within a change of the catalog. */
@Injectable()
export class ChannelEditor {
  constructor(
    private readonly repository: ChannelRepository,
    private readonly credentials: CredentialStore,
    private readonly clock: Clock,
  ) {}

  /** By name, including disabled ones. */
  all(manager: EntityManager): Promise<readonly StoredChannel[]> {
    return this.repository.all(manager);
  }

  /** Enabled channels by name. */
  async stored(manager: EntityManager): Promise<readonly StoredChannel[]> {
    return (await this.repository.all(manager)).filter(({ enabled }) => enabled);
  }

  /**
   * Applies channel definitions by name; with `prune`, disables all others. Returns the changes.
   * @throws SecretNotStored
   */
  async replace(definitions: readonly ChannelDefinition[], prune: boolean, manager: EntityManager): Promise<Change[]> {
    return replaceAll(definitions, {
      kind: 'channel',
      stored: await this.repository.all(manager),
      put: async (definition, before) => (await this.put(definition, before, true, manager)).changes,
      disable: ({ id }) => this.repository.setEnabled(id, false, manager),
      prune: () => prune,
    });
  }

  /**
   * Updates the channel with this ID, including its name, without enabling it; without an ID, creates a channel.
   * @throws ChannelNameTaken, SecretNotStored; AppError not_found
   */
  async save(id: string | undefined, definition: ChannelDefinition, manager: EntityManager): Promise<ChangedChannel> {
    const before = id === undefined ? undefined : await this.find(id, manager);
    const others = (await this.repository.all(manager)).filter((channel) => channel.id !== id);
    if (others.some(({ name }) => name === definition.name)) throw new ChannelNameTaken(definition.name);
    return this.put(definition, before, before?.enabled ?? true, manager);
  }

  /** Adds enabled channels to a group, or removes them. @returns the changes */
  async moveChannels(move: GroupMove, manager: EntityManager): Promise<readonly Change[]> {
    const changes: Change[] = [];
    for (const channel of await this.stored(manager)) {
      const groups = movedGroups(channel, move);
      if (groups === undefined) continue;
      const after = { ...channelFacts(channel), groups: listed(groups) };
      changes.push(...difference(subjectOf(channel), channel, channelFacts(channel), after));
      await this.repository.putGroups(channel.id, groups, manager);
    }
    return changes;
  }

  /** Idempotent. @throws AppError not_found */
  async setEnabled(id: string, enabled: boolean, manager: EntityManager): Promise<readonly Change[]> {
    const before = await this.find(id, manager);
    if (before.enabled === enabled) return [];
    await this.repository.setEnabled(id, enabled, manager);
    return [{ subject: subjectOf(before), text: enabled ? 're-enabled' : 'disabled' }];
  }

  /** Deletes its secrets permanently; calls keep its name. @throws AppError not_found */
  async delete(id: string, manager: EntityManager): Promise<readonly Change[]> {
    const subject = subjectOf(await this.find(id, manager));
    await this.repository.delete(id, this.clock.date(), manager);
    return [{ subject, text: 'deleted' }];
  }

  /** Undefined if there is no channel with this ID. */
  async revisionOf(id: string, manager: EntityManager): Promise<string | undefined> {
    const channel = await this.repository.find(id, manager);
    return channel && channelRevision(channel);
  }

  /** Enabled or disabled. @throws AppError not_found */
  async find(id: string, manager: EntityManager): Promise<StoredChannel> {
    const channel = await this.repository.find(id, manager);
    if (channel === undefined) throw new AppError('not_found', 'Channel not found. It may have been deleted.');
    return channel;
  }

  private async put(
    { costs, ...definition }: ChannelDefinition,
    before: StoredChannel | undefined,
    enabled: boolean,
    manager: EntityManager,
  ): Promise<ChangedChannel> {
    const id = before?.id ?? newId('chn', this.clock.now());
    const columns: ChannelColumns = {
      ...definition,
      maxConcurrency: definition.maxConcurrency ?? null,
      credentials: this.credentials.storedOf(definition, id, before?.credentials ?? []),
    };
    const changes = changesOf({ ...columns, costs }, { id, before, enabled });
    if (changes.length > 0) await this.repository.put(id, { ...columns, enabled }, manager);
    if (!haveSameCosts(before?.costs ?? {}, costs))
      await this.repository.addCostVersion({ id: newId('cst', this.clock.now()), channelId: id, costs }, manager);
    if (before?.name !== columns.name) {
      await this.repository.claimName(columns.name, manager);
      if (before !== undefined) await this.repository.noteFormerName(id, before.name, manager);
    }
    return { id, changes };
  }
}

/** Hash of the stored channel. */
const channelRevision = (channel: StoredChannel): string =>
  revisionOf({
    ...channelFacts(channel),
    credentials: { hidden: JSON.stringify(channel.credentials) },
    name: channel.name,
    enabled: String(channel.enabled),
  });

const subjectOf = ({ id, name }: Pick<StoredChannel, 'id' | 'name'>): Subject => ({ kind: 'channel', name, id });

interface CredentialChange {
  readonly id: string;
  readonly before: StoredChannel | undefined;
  readonly enabled: boolean;
}

function changesOf(
  columns: ChannelColumns & Pick<ChannelDefinition, 'costs'>,
  { id, before, enabled }: CredentialChange,
): readonly Change[] {
  const subject = subjectOf({ id, name: before?.name ?? columns.name });
  // A disabled channel is not reported as re-enabled.
  const known = before && { enabled: before.enabled || !enabled };
  const changes = difference(subject, known, before && channelFacts(before), channelFacts(columns));
  if (before === undefined) return changes;
  const renamed = before.name === columns.name ? [] : [`name ${before.name} → ${columns.name}`];
  const more = [...renamed, ...credentialChanges(before.credentials, columns.credentials)];
  return [...changes, ...more.map((text) => ({ subject, text }))];
}

/** Names are unique, because the catalog file identifies channels by them. */
class ChannelNameTaken extends AppError {
  constructor(name: string) {
    super('invalid_request', `Enter another name: a channel “${name}” already exists.`, { param: 'name' });
  }
}

const same = (one: StoredCredential | undefined, other: StoredCredential | undefined): boolean =>
  JSON.stringify(identity(one)) === JSON.stringify(identity(other));

/** Ignores when a credential was set. */
const identity = (credential: StoredCredential | undefined): unknown =>
  credential && ('env' in credential ? { env: credential.env } : { sealed: credential.sealed });

/** Changes of a channel's credentials, one line each, by position; never secrets. */
export function credentialChanges(
  before: readonly StoredCredential[],
  after: readonly StoredCredential[],
): readonly string[] {
  const isIn = (list: readonly StoredCredential[], wanted: StoredCredential | undefined): boolean =>
    wanted !== undefined && list.some((credential) => same(credential, wanted));
  const gone = before.flatMap((credential, index) => {
    if (isIn(after, credential)) return [];
    const next = after[index];
    return [`credential ${index + 1} ${next !== undefined && !isIn(before, next) ? 'replaced' : 'removed'}`];
  });
  const added = after.flatMap((credential, index) => {
    if (isIn(before, credential)) return [];
    const last = before[index];
    return last !== undefined && !isIn(after, last) ? [] : [`credential ${index + 1} added`];
  });
  const moved = before.length === after.length && !before.every((credential, index) => same(credential, after[index]));
  const lines = [...gone, ...added];
  return lines.length === 0 && moved ? ['credentials reordered'] : lines;
}

const REFERENCE_LENGTH = 12;
const ENDING_LENGTH = 4;
/** The ending of a shorter secret would reveal too much. */
const MIN_SECRET_LENGTH = 20;

/** A credential as administrators see it. */
export interface CredentialNote {
  /** Identifies it until it is replaced; reveals nothing. */
  readonly reference: string;
  /** Its environment variable. */
  readonly variable?: string;
  /** Its last characters; absent for short or unreadable secrets. */
  readonly ending?: string;
  /** Email address of its service account. */
  readonly serviceAccount?: string;
  readonly setAt?: Date;
  /** Sealed with another SECRET_KEY and unusable. */
  readonly unreadable: boolean;
}

/** A stored channel as administrators see it, without secrets. */
export interface ChannelRecord extends Omit<StoredChannel, 'credentials' | 'deletedAt'> {
  readonly credentials: readonly CredentialNote[];
  /** As in the catalog file, without credentials. */
  readonly entry: Readonly<Record<string, unknown>>;
  /** Changes with any property. */
  readonly revision: string;
}

/** A hash of the sealed text, which differs on each sealing and so cannot be used to guess the secret. */
export const referenceOf = (credential: StoredCredential): string =>
  hash('sha256', JSON.stringify(credential), 'hex').slice(0, REFERENCE_LENGTH);

export function recordOf(channel: StoredChannel, reader: CredentialReader): ChannelRecord {
  const { credentials, deletedAt: _, ...columns } = channel;
  return {
    ...columns,
    credentials: credentials.map((credential) => noteOf(credential, channel.id, reader)),
    entry: channelEntry(channel, []),
    revision: channelRevision(channel),
  };
}

function noteOf(credential: StoredCredential, id: string, reader: CredentialReader): CredentialNote {
  const reference = referenceOf(credential);
  if ('env' in credential) return { reference, variable: credential.env, unreadable: false };
  const [read] = reader.read({ id, credentials: [credential] }).credentials;
  return {
    reference,
    unreadable: read === undefined,
    ...(read !== undefined && shownPartOf(read)),
    ...(credential.setAt !== undefined && { setAt: new Date(credential.setAt) }),
  };
}

function shownPartOf({ secret, serviceAccount }: ChannelCredential): Pick<CredentialNote, 'ending' | 'serviceAccount'> {
  if (serviceAccount !== undefined) return { serviceAccount: serviceAccount.email };
  const text = secret.reveal();
  return text.length >= MIN_SECRET_LENGTH ? { ending: text.slice(-ENDING_LENGTH) } : {};
}
