import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { Notifications } from '../../../platform/database/index.js';
import { AppError } from '../../../platform/shared/index.js';
import {
  CatalogEditor,
  type Change,
  type GroupDefinition,
  type GroupMove,
  type ModelDefinition,
  type Subject,
} from '../../index.js';
import type { ChannelDefinition } from '../channel-definition.js';
import { ChannelEditor } from '../channel.editor.js';
import { missingOnServers } from '../environment-question.js';
import {
  channelFrom,
  type DefaultAuth,
  defaultLimitsFrom,
  groupFrom,
  modelFrom,
  variableOf,
} from './definitions-from-entries.js';
import type { CatalogFileDto } from './group.dto.js';
import { type EntryError, readCatalogFile, readEntries } from './read-catalog-file.js';
import { referenceErrors } from './references.js';

/** By kind, of one group. */
export interface GroupMoves {
  readonly models: GroupMove;
  readonly channels: GroupMove;
}

interface CatalogImportOptions {
  /** Disable what the file does not contain. */
  readonly prune: boolean;
  /** Known protocols with the default auth of each. */
  readonly protocols: DefaultAuth;
  /** The administrator's reason, for the audit log. */
  readonly reason?: string | undefined;
  /** Creates the error for invalid entries. */
  readonly refusal: (errors: readonly EntryError[]) => AppError;
  /** Checked first, under the lock; its errors roll everything back. */
  readonly unless?: (manager: EntityManager) => Promise<void>;
  /** Models and channels that enter and leave a group of the entries, after these. */
  readonly moves?: GroupMoves | undefined;
  /** Replaces storing channels by name. */
  readonly putChannels?: (channels: readonly ChannelDefinition[], manager: EntityManager) => Promise<readonly Change[]>;
}

/** Applies groups, models, prices, channels and limits, all or none. */
@Injectable()
export class CatalogImport {
  constructor(
    private readonly catalog: CatalogEditor,
    private readonly channels: ChannelEditor,
    private readonly notifications: Notifications,
  ) {}

  /**
   * Applies a catalog file and notifies all processes. Returns one line per change, without secrets.
   * @param fileName used in messages
   * @throws InvalidCatalog, SecretNotStored
   */
  async apply(
    text: string,
    { fileName, prune, protocols }: Pick<CatalogImportOptions, 'prune' | 'protocols'> & { readonly fileName: string },
  ): Promise<readonly string[]> {
    const { entries, refusal } = readCatalogFile(text, fileName);
    return this.applyEntries(entries, { prune, protocols, refusal });
  }

  /** The same for entries of valid form. @throws errors of `refusal`, SecretNotStored */
  async applyEntries(entries: CatalogFileDto, application: CatalogImportOptions): Promise<readonly string[]> {
    const { prune, protocols, refusal, reason, unless } = application;
    await this.checkVariables(entries, refusal);
    return this.catalog.change(async (manager) => {
      await unless?.(manager);
      const stored = prune ? undefined : await this.catalog.names(manager);
      const errors = referenceErrors(entries, { stored, protocols });
      if (errors.length > 0) throw refusal(errors);
      return this.replace(entries, application, manager);
    }, reason);
  }

  private async replace(
    { groups, models, channels, limits }: CatalogFileDto,
    { prune, protocols, reason, moves, putChannels }: CatalogImportOptions,
    manager: EntityManager,
  ): Promise<readonly Change[]> {
    const definitions = (channels ?? []).map((entry) => channelFrom(entry, protocols));
    return [
      ...(await this.catalog.replaceGroups((groups ?? []).map(groupFrom), prune, manager)),
      ...(await this.catalog.replaceModels((models ?? []).map(modelFrom), prune, manager, reason)),
      ...(await (putChannels?.(definitions, manager) ?? this.channels.replace(definitions, prune, manager))),
      ...(await this.catalog.replaceDefaultLimits(defaultLimitsFrom(limits ?? {}), prune, manager)),
      ...(moves === undefined ? [] : await this.catalog.moveModels(moves.models, manager)),
      ...(moves === undefined ? [] : await this.channels.moveChannels(moves.channels, manager)),
    ];
  }

  /** Environment variables are read by serving processes, so only a running server knows whether they are set. */
  private async checkVariables(entries: CatalogFileDto, refusal: CatalogImportOptions['refusal']): Promise<void> {
    const uses = (entries.channels ?? []).flatMap(({ name, credentials }, index) =>
      (credentials ?? []).flatMap((credential) => {
        const variable = variableOf(credential);
        return variable === undefined ? [] : [{ variable, name, path: `channels[${index}].credentials` }];
      }),
    );
    const missing = await missingOnServers(this.notifications, [...new Set(uses.map(({ variable }) => variable))]);
    const errors = uses.flatMap(({ variable, name, path }): EntryError[] =>
      missing.has(variable)
        ? [{ path, message: `of channel ${name}: the running server has no environment variable ${variable}` }]
        : [],
    );
    if (errors.length > 0) throw refusal(errors);
  }
}

/** Entries as in the catalog file; numbers are `Numeral`s. */
type Entries = Partial<Readonly<Record<'groups' | 'models' | 'channels', readonly object[]>>> & {
  readonly limits?: object;
};

interface ChangeOptions {
  /** Known protocols with the default auth of each. */
  readonly protocols: DefaultAuth;
  readonly reason?: string;
  /** The object and its revision when the change was made; undefined revision: it did not exist. */
  readonly expected?: { readonly subject: Subject; readonly revision: string | undefined };
  readonly moves?: GroupMoves;
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
   * @throws RefusedEntries, ChangedMeanwhile, SecretNotStored
   */
  async put(content: Entries, { protocols, reason, expected, moves }: ChangeOptions): Promise<readonly string[]> {
    const refusal = (errors: readonly EntryError[]) => new RefusedEntries(errors);
    const { entries, errors } = readEntries(content);
    if (errors.length > 0) throw refusal(errors);
    const unless = async (manager: EntityManager): Promise<void> => {
      if (expected !== undefined && (await this.revisionOf(expected.subject, manager)) !== expected.revision)
        throw new ChangedMeanwhile(expected.subject);
    };
    return this.imports.applyEntries(entries, { prune: false, protocols, reason, refusal, unless, moves });
  }

  /**
   * The models and groups that entries define; changes nothing and does not check references.
   * @throws RefusedEntries
   */
  meaningOf(content: Entries): {
    readonly models: readonly ModelDefinition[];
    readonly groups: readonly GroupDefinition[];
  } {
    const { entries, errors } = readEntries(content);
    if (errors.length > 0) throw new RefusedEntries(errors);
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
  constructor(readonly errors: readonly EntryError[]) {
    super('invalid_request', errors.map(({ path, message }) => `${path} ${message}`).join('\n'));
  }
}

/** The object was changed since it was read; nothing was changed now. */
export class ChangedMeanwhile extends AppError {
  constructor({ kind, name }: Subject) {
    super('conflict', `The ${kind} ${name} was changed while you edited it. Review the current values and try again.`);
  }
}
