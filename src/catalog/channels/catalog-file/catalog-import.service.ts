import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { CatalogEditor, type Change } from '../../index.js';
import { Notifications } from '../../../platform/database/index.js';
import { AppError } from '../../../platform/shared/index.js';
import type { ChannelDefinition } from '../channel-definition.js';
import { ChannelEditor } from '../channel.editor.js';
import { missingOnServers } from '../environment-question.js';
import type { CatalogFileDto } from './catalog-file.dto.js';
import {
  channelFrom,
  groupFrom,
  modelFrom,
  type DefaultAuth,
  defaultLimitsFrom,
  variableOf,
} from './definitions-from-entries.js';
import { type EntryError, readCatalogFile } from './read-catalog-file.js';
import { referenceErrors } from './references.js';

interface Application {
  /** Disable what the file does not contain. */
  readonly prune: boolean;
  /** Known protocols with the default auth of each. */
  readonly protocols: DefaultAuth;
  /** The administrator's reason, for the audit log. */
  readonly reason?: string | undefined;
  /** Creates the error for invalid entries. */
  readonly refusal: (faults: readonly EntryError[]) => AppError;
  /** Checked first, under the lock; its errors roll everything back. */
  readonly unless?: (manager: EntityManager) => Promise<void>;
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
   * @throws InvalidCatalog, SecretNotKept
   */
  async apply(
    text: string,
    { fileName, prune, protocols }: Pick<Application, 'prune' | 'protocols'> & { readonly fileName: string },
  ): Promise<readonly string[]> {
    const { entries, refusal } = readCatalogFile(text, fileName);
    return this.applyEntries(entries, { prune, protocols, refusal });
  }

  /** The same for entries of valid form. @throws errors of `refusal`, SecretNotKept */
  async applyEntries(entries: CatalogFileDto, application: Application): Promise<readonly string[]> {
    const { prune, protocols, refusal, reason, unless } = application;
    await this.checkVariables(entries, refusal);
    return this.catalog.change(async (manager) => {
      await unless?.(manager);
      const stored = prune ? undefined : await this.catalog.names(manager);
      const faults = referenceErrors(entries, { stored, protocols });
      if (faults.length > 0) throw refusal(faults);
      return this.replace(entries, application, manager);
    }, reason);
  }

  private async replace(
    { groups, models, channels, limits }: CatalogFileDto,
    { prune, protocols, reason, putChannels }: Application,
    manager: EntityManager,
  ): Promise<readonly Change[]> {
    const definitions = (channels ?? []).map((entry) => channelFrom(entry, protocols));
    return [
      ...(await this.catalog.replaceGroups((groups ?? []).map(groupFrom), prune, manager)),
      ...(await this.catalog.replaceModels((models ?? []).map(modelFrom), prune, manager, reason)),
      ...(await (putChannels?.(definitions, manager) ?? this.channels.replace(definitions, prune, manager))),
      ...(await this.catalog.replaceUsualLimits(defaultLimitsFrom(limits ?? {}), prune, manager)),
    ];
  }

  /** Environment variables are read by serving processes, so only a running server knows whether they are set. */
  private async checkVariables(entries: CatalogFileDto, refusal: Application['refusal']): Promise<void> {
    const uses = (entries.channels ?? []).flatMap(({ name, credentials }, index) =>
      (credentials ?? []).flatMap((credential) => {
        const variable = variableOf(credential);
        return variable === undefined ? [] : [{ variable, name, path: `channels[${index}].credentials` }];
      }),
    );
    const missing = await missingOnServers(this.notifications, [...new Set(uses.map(({ variable }) => variable))]);
    const faults = uses.flatMap(({ variable, name, path }): EntryError[] =>
      missing.has(variable)
        ? [{ path, message: `of ${name} name ${variable}, which is not set in the running server's environment` }]
        : [],
    );
    if (faults.length > 0) throw refusal(faults);
  }
}
