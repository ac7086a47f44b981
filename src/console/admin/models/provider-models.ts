import { Injectable } from '@nestjs/common';
import { ChannelDrafts, type EditedChannel } from '../../../catalog/channels/index.js';
import { bookModels, CatalogService, type ProviderPreset } from '../../../catalog/index.js';
import { Clock } from '../../../platform/shared/index.js';
import type { UpstreamModel } from '../../../protocols/contract/index.js';
import { AdapterRegistry, ChannelChecks, type CheckResult } from '../../../relay/index.js';
import { type NewModel, newModel } from './new-models.js';

/** Models of a provider. */
export interface OfferedModels {
  /** Names of all of them. */
  readonly names: ReadonlySet<string>;
  /** Those that the catalog does not have, with what is known about them. */
  readonly models: readonly NewModel[];
  /** Those that the catalog has already. */
  readonly stored: readonly string[];
}

/** Limit of models on a page. */
const MAX_MODELS = 500;

/** Reads and checks what a provider offers, through a channel that is not stored. */
@Injectable()
export class ProviderModels {
  constructor(
    private readonly drafts: ChannelDrafts,
    private readonly adapters: AdapterRegistry,
    private readonly checks: ChannelChecks,
    private readonly catalog: CatalogService,
    private readonly clock: Clock,
  ) {}

  /**
   * @param typed names that were entered, in place of the provider's list
   * @throws RefusedEntries if the address or the key is invalid; AppError upstream_error if there is no list
   */
  async offered(
    draft: EditedChannel,
    preset: ProviderPreset,
    typed: readonly string[] | undefined,
  ): Promise<OfferedModels> {
    const channel = await this.drafts.draft(draft, this.adapters.defaultAuth);
    const all =
      typed?.map((name): UpstreamModel => ({ name, capabilities: [] })) ?? (await this.checks.models(channel));
    const listed = all.filter(({ name }) => preset.served?.test(name) !== false).slice(0, MAX_MODELS);
    const known = this.catalog.current().models;
    const missing = listed.filter(({ name }) => !known.has(name));
    const seller = { book: preset.book, baseUrl: channel.baseUrl };
    const names = missing.map(({ name }) => name);
    const book = preset.isFree ? new Map<string, never>() : await bookModels(names, seller, this.clock.date());
    return {
      names: new Set(listed.map(({ name }) => name)),
      models: missing.map((model) => newModel({ listed: model, book: book.get(model.name), preset })),
      stored: listed.map(({ name }) => name).filter((name) => known.has(name)),
    };
  }

  /** Sends a minimal call. @throws RefusedEntries as above */
  async check(draft: EditedChannel, model: string): Promise<CheckResult> {
    return this.checks.check(await this.drafts.draft(draft, this.adapters.defaultAuth), model);
  }
}
