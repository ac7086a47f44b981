import { Injectable } from '@nestjs/common';
import { type EntityManager, IsNull } from 'typeorm';
import type { ChannelColumns } from './channel-definition.js';
import { ChannelEntity } from './channel.entity.js';

/** Channels in the database, without those that were deleted. Every method runs in the transaction it is given. */
@Injectable()
export class ChannelRepository {
  /** By name, switched off or not. */
  all(manager: EntityManager): Promise<ChannelEntity[]> {
    return manager.find(ChannelEntity, { where: { deletedAt: IsNull() }, order: { name: 'ASC' } });
  }

  /** Switched off or not. */
  async find(id: string, manager: EntityManager): Promise<ChannelEntity | undefined> {
    return (await manager.findOneBy(ChannelEntity, { id, deletedAt: IsNull() })) ?? undefined;
  }

  /** Makes the channel of this id be as said. */
  async put(id: string, columns: ChannelColumns & { enabled: boolean }, manager: EntityManager): Promise<void> {
    await manager.upsert(ChannelEntity, { ...columns, id }, ['id']);
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
}
