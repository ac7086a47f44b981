import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { Secret } from '../../../platform/shared/index.js';
import type { CredentialDefinition } from '../channel-definition.js';
import { familyOf } from '../channel-family.js';
import { ChannelEditor } from '../channel.editor.js';
import type { Channel, ChannelCredential } from '../channel.js';
import { CredentialReader } from '../credential-reader.js';
import { RefusedEntries } from './catalog-changes.js';
import { channelFrom, type DefaultAuth } from './definitions-from-entries.js';
import { definedCredentials, type EditedChannel, entryOf } from './edited-channel.js';
import { readEntries } from './read-catalog-file.js';
import { referenceErrors } from './references.js';

const DRAFT = 'draft';
/** What does not matter to one who only wants to know whether an upstream answers. */
const BESIDE_THE_POINT = /^channels\[0\]\.(?:name|models|groups|costs|tier|weight|max_concurrency)\b/;

/** Channels as they would be if they were saved: they can be asked, and nobody is sent to them. */
@Injectable()
export class ChannelDrafts {
  constructor(
    private readonly channels: ChannelEditor,
    private readonly reader: CredentialReader,
    private readonly dataSource: DataSource,
  ) {}

  /** Nothing is stored. @throws RefusedEntries where what it takes to reach the upstream is wrong */
  async draft(edited: EditedChannel, protocols: DefaultAuth): Promise<Channel> {
    const id = edited.id ?? DRAFT;
    const stored =
      edited.id === undefined ? [] : (await this.channels.find(edited.id, this.dataSource.manager)).credentials;
    const { entries, faults } = readEntries({ channels: [entryOf(edited, stored)] });
    const [entry] = entries.channels ?? [];
    const formFaults = faults.filter(({ path }) => !BESIDE_THE_POINT.test(path));
    if (entry === undefined || formFaults.length > 0) throw new RefusedEntries(formFaults);
    const none = { groups: new Set<string>(), models: new Set<string>() };
    const more = referenceErrors({ channels: [{ ...entry, models: {} }] }, { stored: none, protocols });
    const otherFaults = more.filter(({ path }) => !BESIDE_THE_POINT.test(path));
    if (otherFaults.length > 0) throw new RefusedEntries(otherFaults);
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

  /** @throws RefusedEntries when it cannot be had here */
  private read(credential: CredentialDefinition, id: string): ChannelCredential {
    if (credential !== 'keep' && 'secret' in credential) return draftOf(credential.secret);
    const stored = credential === 'keep' ? undefined : 'env' in credential ? credential : credential.stored;
    const read = this.reader.read({ id, credentials: stored === undefined ? [] : [stored] });
    const [first] = read.credentials;
    if (first !== undefined) return first;
    throw new RefusedEntries([
      { path: 'channels[0].credentials', message: `cannot be used: ${read.unavailableReason ?? 'there is none'}` },
    ]);
  }
}

const draftOf = (secret: Secret): ChannelCredential => ({ id: DRAFT, secret });
