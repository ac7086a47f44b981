import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { CatalogEditor, type GroupDefinition, type ModelDefinition, type Subject } from '../../index.js';
import { AppError } from '../../../platform/shared/index.js';
import { ChannelEditor } from '../channel.editor.js';
import { CatalogImport } from './catalog-import.service.js';
import { groupFrom, modelFrom, type DefaultAuth } from './definitions-from-entries.js';
import { type EntryError, readEntries } from './read-catalog-file.js';

/** Entries as the catalog file would say them; numbers are `Numeral`s. */
type Entries = Partial<Readonly<Record<'groups' | 'models' | 'channels', readonly object[]>>> & {
  readonly limits?: object;
};

interface ChangeOptions {
  /** What a channel's protocol may be, and what its auth is when it is not said. */
  readonly protocols: DefaultAuth;
  readonly reason?: string;
  /** What was looked at when the change was thought of; without a revision: that there was no such thing. */
  readonly seen?: { readonly subject: Subject; readonly revision: string | undefined };
}

/** Changes entries of the catalog one by one, in every other way as a catalog file would that holds only these. */
@Injectable()
export class CatalogChanges {
  constructor(
    private readonly imports: CatalogImport,
    private readonly catalog: CatalogEditor,
    private readonly channels: ChannelEditor,
  ) {}

  /**
   * Makes what is named be as the entries say, all or nothing. Returns one line for each change; never a secret.
   * @throws RefusedEntries, ChangedMeanwhile, SecretNotKept
   */
  async put(content: Entries, { protocols, reason, seen }: ChangeOptions): Promise<readonly string[]> {
    const refusal = (faults: readonly EntryError[]) => new RefusedEntries(faults);
    const { entries, faults } = readEntries(content);
    if (faults.length > 0) throw refusal(faults);
    const unless = async (manager: EntityManager): Promise<void> => {
      if (seen !== undefined && (await this.revisionOf(seen.subject, manager)) !== seen.revision)
        throw new ChangedMeanwhile(seen.subject);
    };
    return this.imports.applyEntries(entries, { prune: false, protocols, reason, refusal, unless });
  }

  /**
   * What entries would make of models and groups; nothing is changed, and whether names fit together is not looked at.
   * @throws RefusedEntries
   */
  meaningOf(content: Entries): {
    readonly models: readonly ModelDefinition[];
    readonly groups: readonly GroupDefinition[];
  } {
    const { entries, faults } = readEntries(content);
    if (faults.length > 0) throw new RefusedEntries(faults);
    return { models: (entries.models ?? []).map(modelFrom), groups: (entries.groups ?? []).map(groupFrom) };
  }

  /** What it is now, told in short; undefined when there is no such thing. Channels are looked for by id. */
  revisionOf(subject: Subject, manager: EntityManager): Promise<string | undefined> {
    return subject.kind === 'channel'
      ? this.channels.revisionOf(subject.id ?? '', manager)
      : this.catalog.revisionOf(subject, manager);
  }
}

/** Entries that were refused, with what is wrong where; nothing was changed. */
export class RefusedEntries extends AppError {
  constructor(readonly faults: readonly EntryError[]) {
    super('invalid_request', faults.map(({ path, message }) => `${path} ${message}`).join('\n'));
  }
}

/** Somebody else changed it since it was looked at; nothing was changed now. */
export class ChangedMeanwhile extends AppError {
  constructor({ kind, name }: Subject) {
    super('conflict', `The ${kind} ${name} has been changed in the meantime.`);
  }
}
