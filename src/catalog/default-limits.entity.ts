import { Column, Entity, PrimaryColumn } from 'typeorm';
import { LimitColumns, type DefaultLimits } from '../platform/limits/index.js';

/** One row for each kind; limits that are null are none. */
@Entity('usual_limits')
export class DefaultLimitsEntity {
  /** Whose: of every key, account or address that has none of its own. */
  @PrimaryColumn({ type: 'text', primaryKeyConstraintName: 'usual_limits_pkey' })
  subject: keyof DefaultLimits;

  @Column(() => LimitColumns, { prefix: false })
  limits: LimitColumns;
}
