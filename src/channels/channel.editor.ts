import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { type Change, difference, replaceAll, revisionOf, type Subject } from '../catalog/index.js';
import { AppError, Clock, newId } from '../shared/index.js';
import {
  type ChannelColumns,
  type ChannelDefinition,
  channelFacts,
  type CredentialDefinition,
} from './channel-definition.js';
import type { ChannelEntity, StoredCredential } from './channel.entity.js';
import { ChannelRepository } from './channel.repository.js';
import { CredentialVault } from './credential-vault.js';

/** Changes channels, inside a change of the catalog. */
@Injectable()
export class ChannelEditor {
  constructor(
    private readonly repository: ChannelRepository,
    private readonly vault: CredentialVault,
    private readonly clock: Clock,
  ) {}

  /** Channels that are switched on, by name. */
  async stored(manager: EntityManager): Promise<readonly ChannelEntity[]> {
    return (await this.repository.all(manager)).filter(({ enabled }) => enabled);
  }

  /**
   * Makes each channel be as defined; with `prune`, switches off all others. Returns what became different.
   * @throws SecretNotKept
   */
  async replace(definitions: readonly ChannelDefinition[], prune: boolean, manager: EntityManager): Promise<Change[]> {
    return replaceAll(definitions, {
      kind: 'channel',
      stored: await this.repository.all(manager),
      put: (definition, before) => this.put(definition, before, manager),
      switchOff: ({ id }) => this.repository.switchOff(id, manager),
      prune: () => prune,
    });
  }

  /** Undefined when there is no channel of this id. */
  async revisionOf(id: string, manager: EntityManager): Promise<string | undefined> {
    const channel = (await this.repository.all(manager)).find((one) => one.id === id);
    return channel && revisionOf({ ...channelFacts(channel), name: channel.name, enabled: String(channel.enabled) });
  }

  private async put(
    definition: ChannelDefinition,
    before: ChannelEntity | undefined,
    manager: EntityManager,
  ): Promise<readonly Change[]> {
    const id = before?.id ?? newId('chn', this.clock.now());
    const columns: ChannelColumns = {
      ...definition,
      maxConcurrency: definition.maxConcurrency ?? null,
      credentials: this.credentialsOf(definition, id, sealedOf(before)),
    };
    const subject: Subject = { kind: 'channel', name: definition.name, id };
    const lines = difference(subject, before, before && channelFacts(before), channelFacts(columns));
    if (lines.length > 0) await this.repository.put(id, columns, manager);
    return lines;
  }

  /** Each `***` stands for the next secret that is stored, so there must be as many of the one as of the other. */
  private credentialsOf(
    { name, credentials }: ChannelDefinition,
    id: string,
    sealed: readonly string[],
  ): readonly StoredCredential[] {
    const kept = credentials.filter((credential) => credential === 'keep').length;
    if (kept > 0 && kept !== sealed.length) throw new SecretNotKept(name, kept, sealed.length);
    const waiting = [...sealed];
    return credentials.map((credential) => this.store(credential, id, sealed, waiting));
  }

  private store(
    credential: CredentialDefinition,
    id: string,
    sealed: readonly string[],
    waiting: string[],
  ): StoredCredential {
    if (credential === 'keep') return { sealed: waiting.shift() ?? '' };
    if ('env' in credential) return credential;
    // Sealing is different every time; what is stored already stays, so that nothing changes when nothing changes.
    const same = sealed.find((text) => this.opens(text, id) === credential.secret.reveal());
    return { sealed: same ?? this.vault.seal(credential.secret, id) };
  }

  private opens(sealed: string, id: string): string | undefined {
    try {
      return this.vault.open(sealed, id).reveal();
    } catch {
      // Stored under another SECRET_KEY: it is replaced.
      return undefined;
    }
  }
}

const sealedOf = (channel: ChannelEntity | undefined): readonly string[] =>
  channel?.credentials.flatMap((credential) => ('sealed' in credential ? [credential.sealed] : [])) ?? [];

/** The catalog says `***`, but there is no such secret, or it is not plain which one. */
class SecretNotKept extends AppError {
  constructor(channel: string, kept: number, stored: number) {
    const fault =
      stored === 0
        ? 'has no stored secret that "***" could keep'
        : `has ${stored} stored secrets, and "***" is written ${kept} times: write it once for each, or the secrets`;
    super('invalid_request', `The channel ${channel} ${fault}.`);
  }
}
