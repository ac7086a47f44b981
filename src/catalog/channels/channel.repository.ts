import { Injectable } from '@nestjs/common';
import { type EntityManager, IsNull } from 'typeorm';
import type { ChannelColumns } from './channel-definition.js';
import { ChannelEntity, type CostVersionEntity } from './channel.entity.js';
import type { CostsDefinition } from './channel-costs.js';

/** A channel's row with what its upstream charges now. */
export type StoredChannel = ChannelEntity & {
  readonly costs: CostsDefinition;
  /** Which version that is; undefined when nothing was ever said of it. */
  readonly costVersion: string | undefined;
};

type CostVersion = Pick<CostVersionEntity, 'id' | 'channelId' | 'costs'>;

/** Channels and their costs in the database, without those that were deleted. Every method runs in the transaction it is given. */
@Injectable()
export class ChannelRepository {
  /** By name, switched off or not. */
  async all(manager: EntityManager): Promise<StoredChannel[]> {
    const channels = await manager.find(ChannelEntity, { where: { deletedAt: IsNull() }, order: { name: 'ASC' } });
    const versions = await this.costVersions(manager);
    return channels.map((channel) => withCosts(channel, versions.get(channel.id)));
  }

  /** Switched off or not. */
  async find(id: string, manager: EntityManager): Promise<StoredChannel | undefined> {
    return (await this.all(manager)).find((channel) => channel.id === id);
  }

  /** Makes the channel of this id be as said; its costs stay as they are. */
  async put(id: string, columns: ChannelColumns & { enabled: boolean }, manager: EntityManager): Promise<void> {
    await manager.upsert(ChannelEntity, { ...columns, id }, ['id']);
  }

  /** What the channel's upstream charges from this moment on, which is the clock's: that of the transaction is older. */
  async addCostVersion({ id, channelId, costs }: CostVersion, manager: EntityManager): Promise<void> {
    await manager.query(
      'INSERT INTO channel_cost_versions (id, channel_id, valid_from, costs) VALUES ($1, $2, clock_timestamp(), $3)',
      [id, channelId, costs],
    );
  }

  async setEnabled(id: string, enabled: boolean, manager: EntityManager): Promise<void> {
    await manager.update(ChannelEntity, { id }, { enabled });
  }

  /** Attempts that were made until now stand under this name. */
  async noteFormerName(id: string, name: string, manager: EntityManager): Promise<void> {
    await manager.query('UPDATE channels SET former_names = array_append(former_names, $2) WHERE id = $1', [id, name]);
  }

  /** What is called so from now on is the only one: nobody else was. */
  async claimName(name: string, manager: EntityManager): Promise<void> {
    await manager.query(
      'UPDATE channels SET former_names = array_remove(former_names, $1) WHERE $1 = ANY(former_names)',
      [name],
    );
  }

  /** The row stays for what points to it; whatever could be a secret does not. */
  async delete(id: string, deletedAt: Date, manager: EntityManager): Promise<void> {
    await manager.update(ChannelEntity, { id }, { deletedAt, enabled: false, credentials: [], query: {}, headers: {} });
  }

  /** The latest of each channel, by the channel's id. */
  private async costVersions(manager: EntityManager): Promise<ReadonlyMap<string, CostVersion>> {
    const rows = await manager.query<CostVersion[]>(
      `SELECT DISTINCT ON (channel_id) id, channel_id AS "channelId", costs FROM channel_cost_versions
        ORDER BY channel_id, valid_from DESC, id DESC`,
    );
    return new Map(rows.map((row) => [row.channelId, row]));
  }
}

const withCosts = (channel: ChannelEntity, version: CostVersion | undefined): StoredChannel => ({
  ...channel,
  costs: version?.costs ?? {},
  costVersion: version?.id,
});
