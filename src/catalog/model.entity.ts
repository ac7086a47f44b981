import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { Flags } from './catalog.js';

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
