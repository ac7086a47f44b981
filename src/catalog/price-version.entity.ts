import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import type { PricingDefinition } from './pricing.js';

/** What a model costs from a moment on. Never changed; the table refuses it. */
@Entity('price_versions')
@Index('price_versions_by_model', { synchronize: false })
export class PriceVersionEntity {
  /** `prc_…` */
  @PrimaryColumn({ type: 'text', primaryKeyConstraintName: 'price_versions_pkey' })
  id: string;

  @Column({ type: 'text' })
  model: string;

  @Column({ type: 'timestamptz', name: 'valid_from' })
  validFrom: Date;

  @Column({ type: 'jsonb' })
  pricing: PricingDefinition;
}
