import { Injectable } from '@nestjs/common';
import { type CatalogModel, CatalogService } from '../../catalog/index.js';
import { CatalogImport, type Channel, ChannelDirectory } from '../../catalog/channels/index.js';
import { AdapterRegistry } from '../../relay/index.js';

/** A model on a channel that serves it. */
export interface SeedOffer {
  readonly model: CatalogModel;
  readonly channel: Channel;
  /** The upstream's name of the model. */
  readonly upstreamModel: string;
}

/** Names and prices are fictitious, and upstream addresses do not resolve: only the demo model responds. */
const SEED_CATALOG = `
groups:
  - { name: default, multiplier: 1 }
  - { name: saver, multiplier: 0.8, description: Slower channels at a discount }
models:
  - name: atlas-large
    display_name: Atlas Large
    owned_by: atlas
    context_window: 400000
    max_output_tokens: 64000
    groups: [default, saver]
    capabilities: [vision, tools, reasoning]
    tool_fees: { web_search: 0.01 }
    prices:
      - { from_prompt_tokens: 0, input: 1.25, cache_read: 0.125, output: 10 }
      - { from_prompt_tokens: 60000, input: 2.50, cache_read: 0.25, output: 15 }
  - name: atlas-mini
    display_name: Atlas Mini
    owned_by: atlas
    context_window: 128000
    max_output_tokens: 16000
    groups: [default, saver]
    capabilities: [tools]
    tool_fees: { web_search: 0.01 }
    prices: [{ from_prompt_tokens: 0, input: 0.20, cache_read: 0.02, output: 0.80 }]
  - name: sonata-2
    display_name: Sonata 2
    owned_by: sonata
    context_window: 200000
    max_output_tokens: 32000
    groups: [default, saver]
    capabilities: [vision, tools, reasoning]
    effort_multipliers: { high: 1.25 }
    tool_fees: { web_search: 0.01 }
    prices:
      - { from_prompt_tokens: 0, input: 2, cache_read: 0.20, cache_write_5m: 2.50, cache_write_1h: 4, output: 10 }
  - name: sonata-draft
    display_name: Sonata Draft
    owned_by: sonata
    context_window: 64000
    max_output_tokens: 8000
    tool_fees: { web_search: 0 }
    prices: free
channels:
  - name: atlas-responses
    protocol: responses
    base_url: https://atlas.invalid/v1
    auth: none
    models: &atlas { atlas-large: atlas-large-2026-09, atlas-mini: atlas-mini }
    groups: [default, saver]
    costs: &atlas-costs
      atlas-large:
        - { from_prompt_tokens: 0, input: 1, cache_read: 0.10, output: 8 }
        - { from_prompt_tokens: 60000, input: 2, cache_read: 0.20, output: 12 }
      atlas-mini: 0.75
  - name: atlas-chat
    protocol: chat-completions
    base_url: https://atlas.invalid/v1
    auth: none
    models: *atlas
    groups: [default, saver]
    costs: *atlas-costs
  - name: atlas-chat-reserve
    protocol: chat-completions
    base_url: https://reserve.invalid/v1
    auth: none
    models: *atlas
    groups: [default, saver]
    tier: 2
  - name: sonata
    protocol: messages
    base_url: https://sonata.invalid/v1
    auth: none
    models: [sonata-2, sonata-draft]
    groups: [default, saver]
    costs:
      sonata-2: { input: 1.60, cache_read: 0.16, cache_write_5m: 2, cache_write_1h: 3.20, output: 8 }
      sonata-draft: { input: 0.05, output: 0.20 }
  - name: sonata-reserve
    protocol: messages
    base_url: https://reserve.invalid/v1
    auth: none
    models: { sonata-2: vendor/sonata-2 }
    groups: [default, saver]
    costs: { sonata-2: 1.1 }
    tier: 2
`;

/** The models and channels of seed calls. */
@Injectable()
export class SeedCatalog {
  constructor(
    private readonly catalog: CatalogService,
    private readonly channels: ChannelDirectory,
    private readonly file: CatalogImport,
    private readonly adapters: AdapterRegistry,
  ) {}

  /** Applies the seed catalog unless channels are stored. */
  async applyUnlessStored(): Promise<void> {
    if (this.channels.hasStored) return;
    const options = { fileName: 'the seed catalog', prune: false, protocols: this.adapters.defaultAuth };
    await this.file.apply(SEED_CATALOG, options);
    await this.catalog.reload();
  }

  /** All offers in a group, by tier, including those of unavailable channels. */
  offers(group: string): readonly SeedOffer[] {
    const { models } = this.catalog.current();
    return this.channels
      .all()
      .filter(({ groups }) => groups.includes(group))
      .toSorted((one, other) => one.tier - other.tier)
      .flatMap((channel) =>
        [...channel.models].flatMap(([name, [upstreamModel = name]]): SeedOffer[] => {
          const model = models.get(name);
          return model?.enabled && model.groups.includes(group) ? [{ model, channel, upstreamModel }] : [];
        }),
      );
  }
}
