import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import type { Flags } from '../index.js';
import type { AuthForm, ChannelTimeouts, CostsDefinition } from './channel.js';

/** An environment variable, or a secret sealed for this channel with the time it was set (ISO). */
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

  /** Deleted channels are not found; the row stays for references. */
  @Column({ type: 'timestamptz', name: 'deleted_at', nullable: true })
  deletedAt: Date | null;

  /** Earlier attempts are recorded under these names. */
  @Column({ type: 'text', array: true, name: 'former_names', default: {} })
  formerNames: readonly string[];
}

/** Upstream costs of a channel from a moment on. Immutable, enforced by a trigger. */
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

  /** Empty if nothing is known any more. */
  @Column({ type: 'jsonb' })
  costs: CostsDefinition;
}
