import { Column, Entity, PrimaryColumn } from 'typeorm';
import { LimitColumns } from '../platform/limits/index.js';
import type { GroupChoice } from './catalog.js';

@Entity('groups')
export class GroupEntity {
  @PrimaryColumn({ type: 'text', primaryKeyConstraintName: 'groups_pkey' })
  name: string;

  /** A decimal, as PostgreSQL writes it: `0.800000`. */
  @Column({ type: 'numeric', precision: 12, scale: 6, default: 1 })
  multiplier: string;

  /** Decimals by the name of a model, as text. */
  @Column({ type: 'jsonb', name: 'model_multipliers', default: {} })
  models: Readonly<Record<string, string>>;

  @Column({ type: 'text', default: '' })
  description: string;

  /** Who may choose it for their keys: everyone, or those alone whose account has it. */
  @Column({ type: 'text', default: 'everyone' })
  choice: GroupChoice;

  @Column(() => LimitColumns, { prefix: false })
  limits: LimitColumns;

  @Column({ type: 'boolean', default: true })
  enabled: boolean;
}
