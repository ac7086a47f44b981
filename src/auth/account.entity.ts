import { Column, Entity, PrimaryColumn } from 'typeorm';
import { LimitColumns } from '../platform/limits/index.js';
import type { AccountRole, AccountState } from './account.js';

@Entity('accounts')
export class AccountEntity {
  @PrimaryColumn('text')
  readonly id: string;

  @Column('text')
  readonly email: string;

  @Column('text', { default: '' })
  readonly name: string;

  /** Argon2id in its own notation; null: none was chosen yet. Not selected unless asked for. */
  @Column('text', { name: 'password_hash', select: false, nullable: true })
  readonly passwordHash: string | null;

  /** Somebody else has seen it: nothing but choosing another one is open with it. */
  @Column('boolean', { name: 'password_is_temporary', default: false })
  readonly passwordIsTemporary: boolean;

  @Column('text', { default: 'user' })
  readonly role: AccountRole;

  @Column('text', { default: 'enabled' })
  readonly state: AccountState;

  @Column('text', { name: 'group_name', nullable: true })
  readonly groupName: string | null;

  @Column('text', { name: 'time_zone', default: 'UTC' })
  readonly timeZone: string;

  /** Of all its keys together. */
  @Column(() => LimitColumns, { prefix: false })
  readonly limits: LimitColumns;

  @Column('timestamptz', { name: 'verified_at', nullable: true })
  readonly verifiedAt: Date | null;

  @Column('timestamptz', { name: 'created_at', default: () => 'now()' })
  readonly createdAt: Date;
}
