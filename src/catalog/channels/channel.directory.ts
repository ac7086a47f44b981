import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { Notifications } from '../../platform/database/index.js';
import type { ProtocolId } from '../../protocols/contract/index.js';
import { type Catalog, type CatalogFollower, CatalogService } from '../index.js';
import { familyOf } from './channel-definition.js';
import type { ChannelEntity } from './channel.entity.js';
import { type Channel, parseCosts, type DisabledChannel, translates } from './channel.js';
import { ChannelRepository, type StoredChannel } from './channel.repository.js';
import { CredentialReader } from './credential-store.js';
import { handleEnvironmentQuestions } from './environment-question.js';

const NONE: readonly Channel[] = [];

/** All channels at one moment, indexed by group and model. Immutable. */
class ChannelSnapshot {
  private readonly byGroup = new Map<string, Map<string, Channel[]>>();

  constructor(
    /** Includes unavailable channels. */
    readonly all: readonly Channel[],
  ) {
    for (const channel of all) if (channel.unavailableReason === undefined) this.arrange(channel);
  }

  /** Available channels, unordered. */
  serving(group: string, model: string): readonly Channel[] {
    return this.byGroup.get(group)?.get(model) ?? NONE;
  }

  private arrange(channel: Channel): void {
    for (const group of channel.groups) {
      const byModel = this.byGroup.get(group) ?? new Map<string, Channel[]>();
      this.byGroup.set(group, byModel);
      for (const model of channel.models.keys()) byModel.set(model, [...(byModel.get(model) ?? []), channel]);
    }
  }
}

/** A channel that is not stored; serves every group. */
export type FallbackChannel = Omit<Channel, 'groups'>;

interface ChannelFallback {
  readonly channels: readonly FallbackChannel[];
  readonly active: () => boolean;
}

const NO_CHANNELS = new ChannelSnapshot([]);

/** The channels in memory, read together with the catalog and always of its version. */
@Injectable()
export class ChannelDirectory implements OnModuleInit, CatalogFollower {
  private readonly logger = new Logger('Channels');
  private stored = NO_CHANNELS;
  private disabledChannels: readonly DisabledChannel[] = [];
  private withFallback = NO_CHANNELS;
  private fallback: ChannelFallback | undefined;
  private groups: readonly string[] = [];
  /** Undefined until `speaks` is called: channels of every protocol are available. */
  private spoken: ReadonlySet<ProtocolId> | undefined;
  private serves = false;
  /** Warnings that were already logged. */
  private complaints: ReadonlySet<string> = new Set();

  constructor(
    private readonly catalog: CatalogService,
    private readonly repository: ChannelRepository,
    private readonly reader: CredentialReader,
    private readonly notifications: Notifications,
  ) {}

  async onModuleInit(): Promise<void> {
    await this.catalog.follow(this);
  }

  /** Called by the catalog, in its transaction. */
  async read(catalog: Catalog, manager: EntityManager): Promise<() => void> {
    const entities = await this.repository.all(manager);
    const switchedOn = entities.filter(({ enabled }) => enabled);
    const snapshot = new ChannelSnapshot(switchedOn.map((entity) => this.channelOf(entity)));
    return () => {
      this.stored = snapshot;
      this.disabledChannels = entities.filter(({ enabled }) => !enabled).map(disabledChannel);
      this.groups = [...catalog.groups.keys()];
      this.extend();
      this.complain();
    };
  }

  /** Protocols of the group's available channels for the model, sorted; empty: not available. */
  protocolsFor(group: string, model: string): readonly ProtocolId[] {
    return [
      ...new Set(
        this.current()
          .serving(group, model)
          .map(({ protocol }) => protocol),
      ),
    ].toSorted();
  }

  /** Whether one of them accepts calls of any protocol. */
  translatesFor(group: string, model: string): boolean {
    return this.current().serving(group, model).some(translates);
  }

  /** The group's available channels for the model, unordered. `ChannelSelection` chooses among them. */
  serving(group: string, model: string): readonly Channel[] {
    return this.current().serving(group, model);
  }

  /** Enabled channels by name, including those with an `unavailableReason`. */
  all(): readonly Channel[] {
    return this.current().all;
  }

  /** Disabled channels by name. */
  get disabled(): readonly DisabledChannel[] {
    return this.disabledChannels;
  }

  /** Whether an enabled channel is stored, not counting fallbacks. */
  get hasStored(): boolean {
    return this.stored.all.length > 0;
  }

  /**
   * Adds channels that exist in memory while `active` returns true, in every group. `active` is called on every lookup
   * and must be cheap.
   */
  offerFallback(channels: readonly FallbackChannel[], active: () => boolean): void {
    this.fallback = { channels, active };
    this.extend();
  }

  /** Sets the protocols with an adapter; stored channels of other protocols are unavailable. */
  speaks(protocols: ReadonlySet<ProtocolId>): void {
    this.spoken = protocols;
    this.stored = new ChannelSnapshot(this.stored.all.map((channel) => this.understood(channel)));
    this.extend();
  }

  /**
   * Called when this process starts to serve: it answers questions about environment variables and warns about
   * unavailable channels. The command line does neither, since its environment is not the server's.
   */
  serve(): void {
    this.serves = true;
    handleEnvironmentQuestions(this.notifications, (names) => this.reader.missing(names));
    this.complain();
  }

  private current(): ChannelSnapshot {
    return this.fallback?.active() === true ? this.withFallback : this.stored;
  }

  private extend(): void {
    const added = this.fallback?.channels.map((channel): Channel => ({ ...channel, groups: this.groups })) ?? [];
    this.withFallback = new ChannelSnapshot([...this.stored.all, ...added]);
  }

  private channelOf(entity: StoredChannel): Channel {
    const { enabled: _, createdAt: __, deletedAt: ___, formerNames: ____, costVersion = '', ...columns } = entity;
    return this.understood({
      ...columns,
      models: new Map(Object.entries(entity.models)),
      maxConcurrency: entity.maxConcurrency ?? undefined,
      family: familyOf(entity),
      costs: parseCosts(entity.costs, costVersion),
      ...this.reader.read(entity),
    });
  }

  private understood(channel: Channel): Channel {
    const { protocol, unavailableReason } = channel;
    if (unavailableReason !== undefined || this.spoken?.has(protocol) !== false) return channel;
    return { ...channel, unavailableReason: `its protocol "${protocol}" is not supported` };
  }

  private complain(): void {
    if (!this.serves) return;
    const complaints = this.stored.all.flatMap(({ name, unavailableReason }) =>
      unavailableReason === undefined ? [] : [`Channel ${name} is unavailable: ${unavailableReason}.`],
    );
    for (const complaint of complaints) if (!this.complaints.has(complaint)) this.logger.warn(complaint);
    this.complaints = new Set(complaints);
  }
}

const disabledChannel = (entity: ChannelEntity): DisabledChannel => {
  const { id, name, protocol, baseUrl, tier, weight, models } = entity;
  return { id, name, protocol, baseUrl, tier, weight, models: new Map(Object.entries(models)) };
};
