import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { CatalogEditor, type GroupDefinition, type ModelDefinition, type Subject } from '../../index.js';
import { AppError } from '../../../platform/shared/index.js';
import { ChannelEditor } from '../channel.editor.js';
import { CatalogImport } from './catalog-import.service.js';
import { groupFrom, modelFrom, type DefaultAuth } from './definitions-from-entries.js';
import { type EntryError, readEntries } from './read-catalog-file.js';

/** Entries as in the catalog file; numbers are `Numeral`s. */
type Entries = Partial<Readonly<Record<'groups' | 'models' | 'channels', readonly object[]>>> & {
  readonly limits?: object;
};

interface ChangeOptions {
  /** Known protocols with the default auth of each. */
  readonly protocols: DefaultAuth;
  readonly reason?: string;
  /** The object and its revision when the change was made; undefined revision: it did not exist. */
  readonly seen?: { readonly subject: Subject; readonly revision: string | undefined };
}

/** Changes single entries of the catalog, with the rules of a catalog file that contains only these. */
@Injectable()
export class CatalogChanges {
  constructor(
    private readonly imports: CatalogImport,
    private readonly catalog: CatalogEditor,
    private readonly channels: ChannelEditor,
  ) {}

  /**
   * Applies entries, all or none. Returns one line per change, without secrets.
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
   * The models and groups that entries define; changes nothing and does not check references.
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

  /** Current revision; undefined if the object does not exist. Channels are found by ID. */
  revisionOf(subject: Subject, manager: EntityManager): Promise<string | undefined> {
    return subject.kind === 'channel'
      ? this.channels.revisionOf(subject.id ?? '', manager)
      : this.catalog.revisionOf(subject, manager);
  }
}

/** Rejected entries with errors by path; nothing was changed. */
export class RefusedEntries extends AppError {
  constructor(readonly faults: readonly EntryError[]) {
    super('invalid_request', faults.map(({ path, message }) => `${path} ${message}`).join('\n'));
  }
}

/** The object was changed since it was read; nothing was changed now. */
export class ChangedMeanwhile extends AppError {
  constructor({ kind, name }: Subject) {
    super('conflict', `The ${kind} ${name} has been changed in the meantime.`);
  }
}
