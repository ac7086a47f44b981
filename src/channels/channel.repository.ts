import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { ChannelColumns } from './channel-definition.js';
import { ChannelEntity } from './channel.entity.js';

/** Channels in the database. Every method runs in the transaction it is given. */
@Injectable()
export class ChannelRepository {
  /** By name, switched off or not. */
  all(manager: EntityManager): Promise<ChannelEntity[]> {
    return manager.find(ChannelEntity, { order: { name: 'ASC' } });
  }

  /** Makes the channel of this id be as said, and switched on. */
  async put(id: string, columns: ChannelColumns, manager: EntityManager): Promise<void> {
    await manager.upsert(ChannelEntity, { ...columns, id, enabled: true }, ['id']);
  }

  async switchOff(id: string, manager: EntityManager): Promise<void> {
    await manager.update(ChannelEntity, { id }, { enabled: false });
  }
}
