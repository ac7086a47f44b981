import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import type { Flags } from '../index.js';
import type { CostsDefinition } from './channel-costs.js';
import type { AuthForm, ChannelTimeouts } from './channel.js';

/** A variable of the server's environment, or a secret as the vault sealed it for this channel, and when (ISO time). */
export type StoredCredential = { readonly env: string } | { readonly sealed: string; readonly setAt?: string };

@Entity('channels')
@Index('channel_name_is_unique', ['name'], { unique: true, where: 'deleted_at IS NULL' })
export class ChannelEntity {
  /** `chn_…` */
  @PrimaryColumn({ type: 'text', primaryKeyConstraintName: 'channels_pkey' })
  id: string;

  @Column({ type: 'text' })
  name: string;

  @Column({ type: 'text' })
  protocol: string;

  @Column({ type: 'text', name: 'base_url' })
  baseUrl: string;

  @Column({ type: 'text' })
  auth: AuthForm;

  @Column({ type: 'jsonb', default: {} })
  query: Readonly<Record<string, string>>;

  @Column({ type: 'jsonb', default: [] })
  credentials: readonly StoredCredential[];

  @Column({ type: 'jsonb' })
  models: Readonly<Record<string, readonly string[]>>;

  @Column({ type: 'text', array: true })
  groups: readonly string[];

  @Column({ type: 'integer', default: 1 })
  tier: number;

  @Column({ type: 'integer', default: 100 })
  weight: number;

  @Column({ type: 'integer', name: 'max_concurrency', nullable: true })
  maxConcurrency: number | null;

  @Column({ type: 'jsonb' })
  timeouts: ChannelTimeouts;

  @Column({ type: 'jsonb', default: {} })
  headers: Readonly<Record<string, string>>;

  @Column({ type: 'jsonb', default: {} })
  flags: Flags;

  @Column({ type: 'boolean', default: true })
  enabled: boolean;

  @Column({ type: 'timestamptz', name: 'created_at', default: () => 'now()', update: false })
  createdAt: Date;

  /** Since when nothing finds it any more; its row stays for what points to it. */
  @Column({ type: 'timestamptz', name: 'deleted_at', nullable: true })
  deletedAt: Date | null;

  /** Attempts from before it was renamed stand under these. */
  @Column({ type: 'text', array: true, name: 'former_names', default: {} })
  formerNames: readonly string[];
}

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
