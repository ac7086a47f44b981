import { Column, Entity, Index, PrimaryColumn, Unique } from 'typeorm';
import type { PricingDefinition } from './pricing.js';

/** What a model costs from a moment on. Never changed; the table refuses it. */
@Entity('price_versions')
@Index('price_versions_by_model', { synchronize: false })
@Unique('price_versions_of_a_model_are_counted', ['model', 'number'])
export class PriceVersionEntity {
  /** `prc_…` */
  @PrimaryColumn({ type: 'text', primaryKeyConstraintName: 'price_versions_pkey' })
  id: string;

  @Column({ type: 'text' })
  model: string;

  /** Counted from 1 for each model, in the order in which they were made. */
  @Column({ type: 'integer' })
  number: number;

  @Column({ type: 'timestamptz', name: 'valid_from' })
  validFrom: Date;

  @Column({ type: 'jsonb' })
  pricing: PricingDefinition;

  /** Who made it, as the audit log names them; null where nobody noted it. */
  @Column({ type: 'text', nullable: true })
  author: string | null;

  @Column({ type: 'text', nullable: true })
  reason: string | null;

  /** When it was made; null of those that are older than this column. */
  @Column({ type: 'timestamptz', name: 'created_at', nullable: true, default: () => 'clock_timestamp()' })
  createdAt: Date | null;
}
