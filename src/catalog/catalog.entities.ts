import { Column, Entity, Index, PrimaryColumn, Unique } from 'typeorm';
import { type DefaultLimits, LimitColumns } from '../platform/limits/index.js';
import type { Flags, GroupChoice } from './catalog.js';
import type { PricingDefinition } from './pricing.js';

@Entity('models')
export class ModelEntity {
  @PrimaryColumn({ type: 'text', primaryKeyConstraintName: 'models_pkey' })
  name: string;

  @Column({ type: 'text', name: 'display_name' })
  displayName: string;

  @Column({ type: 'text', name: 'owned_by' })
  ownedBy: string;

  @Column({ type: 'integer', name: 'context_window' })
  contextWindow: number;

  @Column({ type: 'integer', name: 'max_output_tokens' })
  maxOutputTokens: number;

  @Column({ type: 'text', array: true })
  groups: readonly string[];

  @Column({ type: 'jsonb', default: {} })
  capabilities: Flags;

  @Column({ type: 'integer', name: 'hidden_tokens_per_second', default: 150 })
  hiddenTokensPerSecond: number;

  @Column({ type: 'boolean', default: true })
  enabled: boolean;

  @Column({ type: 'timestamptz', name: 'created_at', default: () => 'now()', update: false })
  createdAt: Date;
}

@Entity('groups')
export class GroupEntity {
  @PrimaryColumn({ type: 'text', primaryKeyConstraintName: 'groups_pkey' })
  name: string;

  /** A decimal in PostgreSQL's form: `0.800000`. */
  @Column({ type: 'numeric', precision: 12, scale: 6, default: 1 })
  multiplier: string;

  /** Decimals as text, by model name. */
  @Column({ type: 'jsonb', name: 'model_multipliers', default: {} })
  models: Readonly<Record<string, string>>;

  @Column({ type: 'text', default: '' })
  description: string;

  /** Who may choose it for keys: everyone, or only accounts it is assigned to. */
  @Column({ type: 'text', default: 'everyone' })
  choice: GroupChoice;

  @Column(() => LimitColumns, { prefix: false })
  limits: LimitColumns;

  @Column({ type: 'boolean', default: true })
  enabled: boolean;
}

/** Prices of a model from a moment on. Immutable, enforced by a trigger. */
@Entity('price_versions')
@Index('price_versions_by_model', { synchronize: false })
@Unique('price_versions_of_a_model_are_counted', ['model', 'number'])
export class PriceVersionEntity {
  /** `prc_…` */
  @PrimaryColumn({ type: 'text', primaryKeyConstraintName: 'price_versions_pkey' })
  id: string;

  @Column({ type: 'text' })
  model: string;

  /** Counted from 1 per model, in order of creation. */
  @Column({ type: 'integer' })
  number: number;

  @Column({ type: 'timestamptz', name: 'valid_from' })
  validFrom: Date;

  @Column({ type: 'jsonb' })
  pricing: PricingDefinition;

  /** Author as in the audit log; null if unknown. */
  @Column({ type: 'text', nullable: true })
  author: string | null;

  @Column({ type: 'text', nullable: true })
  reason: string | null;

  /** Null for versions of earlier releases. */
  @Column({ type: 'timestamptz', name: 'created_at', nullable: true, default: () => 'clock_timestamp()' })
  createdAt: Date | null;
}

/** One row per kind; null limits do not apply. */
@Entity('usual_limits')
export class DefaultLimitsEntity {
  /** Keys, accounts or addresses without limits of their own. */
  @PrimaryColumn({ type: 'text', primaryKeyConstraintName: 'usual_limits_pkey' })
  subject: keyof DefaultLimits;

  @Column(() => LimitColumns, { prefix: false })
  limits: LimitColumns;
}
