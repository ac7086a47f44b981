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
  /** Switch off what is not named. */
  readonly prune: boolean;
  /** What a channel's protocol may be, and what its auth is when it is not said. */
  readonly protocols: DefaultAuth;
  /** What the operator gave as the reason, for the record. */
  readonly reason?: string | undefined;
  /** Makes the error that tells of faults. */
  readonly refusal: (faults: readonly EntryError[]) => AppError;
  /** Asked first, while nobody else can change anything: what it throws undoes everything. */
  readonly unless?: (manager: EntityManager) => Promise<void>;
  /** Stores the channels in another way than by their names. */
  readonly putChannels?: (channels: readonly ChannelDefinition[], manager: EntityManager) => Promise<readonly Change[]>;
}

/** Makes groups, models, prices, channels and limits be as entries say, all of them or none. */
@Injectable()
export class CatalogImport {
  constructor(
    private readonly catalog: CatalogEditor,
    private readonly channels: ChannelEditor,
    private readonly notifications: Notifications,
  ) {}

  /**
   * Applies a catalog file and tells all processes. Returns one line for each change, none when nothing changed; never a
   * secret.
   * @param fileName how messages name the file
   * @throws InvalidCatalog, SecretNotKept
   */
  async apply(
    text: string,
    { fileName, prune, protocols }: Pick<Application, 'prune' | 'protocols'> & { readonly fileName: string },
  ): Promise<readonly string[]> {
    const { entries, refusal } = readCatalogFile(text, fileName);
    return this.applyEntries(entries, { prune, protocols, refusal });
  }

  /** The same of entries that are known to have the right form. @throws what `refusal` makes, SecretNotKept */
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

  /** Variables are read where calls are served: only a running server can say whether they are there. */
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
