import { Column, Entity, PrimaryColumn } from 'typeorm';
import { nanosColumn } from '../platform/database/index.js';
import { LimitColumns } from '../platform/limits/index.js';
import type { Nanos } from '../platform/shared/index.js';
import type { KeyState } from './caller.js';

@Entity('api_keys')
export class ApiKeyEntity {
  @PrimaryColumn('text')
  readonly id: string;

  @Column('text', { name: 'account_id' })
  readonly accountId: string;

  /** Of keys of an organization; null: service keys, and keys of persons. */
  @Column('text', { name: 'member_id', nullable: true })
  readonly memberId: string | null;

  @Column('text', { name: 'team_id', nullable: true })
  readonly teamId: string | null;

  @Column('text')
  readonly name: string;

  /** SHA-256 of the secret. Only selected explicitly. */
  @Column('bytea', { name: 'secret_hash', select: false })
  readonly secretHash: Buffer;

  @Column('text')
  readonly hint: string;

  /** Null: a key with a secret. Otherwise its calls have a JWT of this issuer, which may be deleted. */
  @Column('text', { name: 'token_issuer_id', nullable: true })
  readonly tokenIssuerId: string | null;

  @Column('text', { default: 'enabled' })
  readonly state: KeyState;

  @Column('text', { name: 'group_name', nullable: true })
  readonly groupName: string | null;

  @Column('text', { array: true, nullable: true })
  readonly models: readonly string[] | null;

  @Column('timestamptz', { name: 'expires_at', nullable: true })
  readonly expiresAt: Date | null;

  /** Null: unlimited. */
  @Column({ ...nanosColumn, nullable: true })
  readonly quota: Nanos | null;

  @Column({ ...nanosColumn, default: 0 })
  readonly used: Nanos;

  @Column({ ...nanosColumn, default: 0 })
  readonly held: Nanos;

  /** Budgets per day, week (from Monday) and month, in UTC. Null: unlimited. */
  @Column({ ...nanosColumn, name: 'daily_budget', nullable: true })
  readonly dailyBudget: Nanos | null;

  @Column({ ...nanosColumn, name: 'weekly_budget', nullable: true })
  readonly weeklyBudget: Nanos | null;

  @Column({ ...nanosColumn, name: 'monthly_budget', nullable: true })
  readonly monthlyBudget: Nanos | null;

  @Column(() => LimitColumns, { prefix: false })
  readonly limits: LimitColumns;

  /** Allowed addresses and networks; null: any. */
  @Column('text', { array: true, nullable: true })
  readonly networks: readonly string[] | null;

  /** Rejects calls whose translation would lose content. */
  @Column('boolean', { default: false })
  readonly strict: boolean;

  /** Responses are not stored, and calls that require storage are rejected. */
  @Column('boolean', { name: 'never_stores', default: false })
  readonly neverStores: boolean;

  @Column('integer', { default: 1 })
  readonly version: number;

  @Column('timestamptz', { name: 'created_at', default: () => 'now()' })
  readonly createdAt: Date;
}
