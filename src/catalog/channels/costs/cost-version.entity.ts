import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import type { CostsDefinition } from './channel-costs.js';

/** What a channel's upstream charges from a moment on. Never changed; the table refuses it. */
@Entity('channel_cost_versions')
@Index('channel_cost_versions_by_channel', { synchronize: false })
export class CostVersionEntity {
  /** `cst_…` */
  @PrimaryColumn({ type: 'text', primaryKeyConstraintName: 'channel_cost_versions_pkey' })
  id: string;

  @Column({ type: 'text', name: 'channel_id' })
  channelId: string;

  @Column({ type: 'timestamptz', name: 'valid_from' })
  validFrom: Date;

  /** Empty where nothing is known any more. */
  @Column({ type: 'jsonb' })
  costs: CostsDefinition;
}
