import { Column, Entity, PrimaryColumn, Unique } from 'typeorm';
import type { Flags } from '../catalog/index.js';
import type { AuthForm, ChannelTimeouts } from './channel.js';

/** A variable of the server's environment, or a secret as the vault sealed it for this channel. */
export type StoredCredential = { readonly env: string } | { readonly sealed: string };

@Entity('channels')
@Unique('channel_name_is_unique', ['name'])
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
}
