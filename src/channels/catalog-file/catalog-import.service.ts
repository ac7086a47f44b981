import { Injectable } from '@nestjs/common';
import { CatalogEditor } from '../../catalog/index.js';
import { Notifications } from '../../database/index.js';
import { ChannelEditor } from '../channel.editor.js';
import { missingOnServers } from '../environment-question.js';
import {
  channelFrom,
  groupFrom,
  modelFrom,
  type UsualAuth,
  usualLimitsFrom,
  variableOf,
} from './definitions-from-entries.js';
import type { Fault } from './invalid-catalog.js';
import { type CatalogFile, readCatalogFile } from './read-catalog-file.js';
import { referenceFaults } from './references.js';

interface ImportOptions {
  /** How messages name the file. */
  readonly fileName: string;
  /** Switch off what the file does not name. */
  readonly prune: boolean;
  /** What a channel's protocol may be, and what its auth is when the file does not say. */
  readonly protocols: UsualAuth;
}

/** Applies catalog files: all of a file or nothing of it. */
@Injectable()
export class CatalogImport {
  constructor(
    private readonly catalog: CatalogEditor,
    private readonly channels: ChannelEditor,
    private readonly notifications: Notifications,
  ) {}

  /**
   * Makes groups, models, prices, channels and limits be as the file says, and tells all processes.
   * Returns one line for each change, none when nothing changed; never a secret.
   * @throws InvalidCatalog, SecretNotKept
   */
  async apply(text: string, { fileName, prune, protocols }: ImportOptions): Promise<readonly string[]> {
    const file = readCatalogFile(text, fileName);
    await this.checkVariables(file);
    return this.catalog.change(async (manager) => {
      const stored = prune ? undefined : await this.catalog.names(manager);
      const faults = referenceFaults(file.entries, { stored, protocols });
      if (faults.length > 0) throw file.refusal(faults);
      const { groups, models, channels, limits } = file.entries;
      return [
        ...(await this.catalog.replaceGroups((groups ?? []).map(groupFrom), prune, manager)),
        ...(await this.catalog.replaceModels((models ?? []).map(modelFrom), prune, manager)),
        ...(await this.channels.replace(
          (channels ?? []).map((entry) => channelFrom(entry, protocols)),
          prune,
          manager,
        )),
        ...(await this.catalog.replaceUsualLimits(usualLimitsFrom(limits ?? {}), prune, manager)),
      ];
    });
  }

  /** Variables are read where calls are served: only a running server can say whether they are there. */
  private async checkVariables({ entries, refusal }: CatalogFile): Promise<void> {
    const uses = (entries.channels ?? []).flatMap(({ name, credentials }, index) =>
      (credentials ?? []).flatMap((credential) => {
        const variable = variableOf(credential);
        return variable === undefined ? [] : [{ variable, name, path: `channels[${index}].credentials` }];
      }),
    );
    const missing = await missingOnServers(this.notifications, [...new Set(uses.map(({ variable }) => variable))]);
    const faults = uses.flatMap(({ variable, name, path }): Fault[] =>
      missing.has(variable)
        ? [{ path, message: `of ${name} name ${variable}, which is not set in the running server's environment` }]
        : [],
    );
    if (faults.length > 0) throw refusal(faults);
  }
}
