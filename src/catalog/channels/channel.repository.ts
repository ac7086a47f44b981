import { Injectable } from '@nestjs/common';
import { type EntityManager, IsNull } from 'typeorm';
import type { ChannelColumns } from './channel-definition.js';
import { ChannelEntity, type CostVersionEntity } from './channel.entity.js';
import type { CostsDefinition } from './channel.js';

/** A channel's row with its current upstream costs. */
export type StoredChannel = ChannelEntity & {
  readonly costs: CostsDefinition;
  /** ID of their version; undefined if costs were never set. */
  readonly costVersion: string | undefined;
};

type CostVersion = Pick<CostVersionEntity, 'id' | 'channelId' | 'costs'>;

/** SQL for channels and their costs, without deleted channels. All methods run in the given transaction. */
@Injectable()
export class ChannelRepository {
  /** By name, including disabled ones. */
  async all(manager: EntityManager): Promise<StoredChannel[]> {
    const channels = await manager.find(ChannelEntity, { where: { deletedAt: IsNull() }, order: { name: 'ASC' } });
    const versions = await this.costVersions(manager);
    return channels.map((channel) => withCosts(channel, versions.get(channel.id)));
  }

  /** Enabled or disabled. */
  async find(id: string, manager: EntityManager): Promise<StoredChannel | undefined> {
    return (await this.all(manager)).find((channel) => channel.id === id);
  }

  /** Inserts or updates a channel, without its costs. */
  async put(id: string, columns: ChannelColumns & { enabled: boolean }, manager: EntityManager): Promise<void> {
    await manager.upsert(ChannelEntity, { ...columns, id }, ['id']);
  }

  /** Costs from now on, by the clock rather than the transaction's start. */
  async addCostVersion({ id, channelId, costs }: CostVersion, manager: EntityManager): Promise<void> {
    await manager.query(
      'INSERT INTO channel_cost_versions (id, channel_id, valid_from, costs) VALUES ($1, $2, clock_timestamp(), $3)',
      [id, channelId, costs],
    );
  }

  async putGroups(id: string, groups: readonly string[], manager: EntityManager): Promise<void> {
    await manager.update(ChannelEntity, { id }, { groups: [...groups] });
  }

  async setEnabled(id: string, enabled: boolean, manager: EntityManager): Promise<void> {
    await manager.update(ChannelEntity, { id }, { enabled });
  }

  /** Records a former name: earlier attempts are listed under it. */
  async noteFormerName(id: string, name: string, manager: EntityManager): Promise<void> {
    await manager.query('UPDATE channels SET former_names = array_append(former_names, $2) WHERE id = $1', [id, name]);
  }

  /** Removes the name from other channels' former names. */
  async claimName(name: string, manager: EntityManager): Promise<void> {
    await manager.query(
      'UPDATE channels SET former_names = array_remove(former_names, $1) WHERE $1 = ANY(former_names)',
      [name],
    );
  }

  /** The row stays for references; everything that could be secret is removed. */
  async delete(id: string, deletedAt: Date, manager: EntityManager): Promise<void> {
    await manager.update(ChannelEntity, { id }, { deletedAt, enabled: false, credentials: [], query: {}, headers: {} });
  }

  /** The latest version per channel, by channel ID. */
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
