import { Injectable } from '@nestjs/common';
import { Column, DataSource, Entity, type EntityManager, IsNull, Not, PrimaryColumn } from 'typeorm';
import { LimitColumns, limitsIn } from '../platform/limits/index.js';
import type { Account, AccountRole, AccountState, AssignmentSource } from './account.js';

/** Columns of a new row; others get their defaults. */
export type NewAccountRow = Pick<
  AccountEntity,
  | 'id'
  | 'email'
  | 'name'
  | 'passwordHash'
  | 'passwordIsTemporary'
  | 'role'
  | 'roleSource'
  | 'groupName'
  | 'groupSource'
  | 'verifiedAt'
>;

/** After waiting for a lock, rows that are no longer administrators are skipped. */
const LOCK_ADMINISTRATORS = `
  SELECT id FROM accounts WHERE role = 'admin' AND state = 'enabled' ORDER BY id FOR NO KEY UPDATE`;

@Injectable()
export class AccountRepository {
  constructor(private readonly dataSource: DataSource) {}

  transaction<T>(work: (manager: EntityManager) => Promise<T>): Promise<T> {
    return this.dataSource.transaction(work);
  }

  /** Returns false without writing if the address is taken. */
  async insert(account: NewAccountRow, manager: EntityManager): Promise<boolean> {
    const insert = manager.createQueryBuilder().insert().into(AccountEntity).values(account);
    const { raw } = await insert.orIgnore().returning('id').execute();
    return (raw as unknown[]).length === 1;
  }

  /** Of a person: organizations have an address that is not used. */
  find(email: string): Promise<AccountEntity | null> {
    return this.dataSource.getRepository(AccountEntity).findOneBy({ email, kind: 'person' });
  }

  byId(id: string): Promise<AccountEntity | null> {
    return this.dataSource.getRepository(AccountEntity).findOneBy({ id });
  }

  /** Includes the password hash. */
  withPassword(by: { readonly email: string } | { readonly id: string }): Promise<AccountEntity | null> {
    const query = this.dataSource.getRepository(AccountEntity).createQueryBuilder('a').addSelect('a.passwordHash');
    return query.where(by).getOne();
  }

  /** False: none was chosen yet. */
  hasPassword(id: string, manager: EntityManager): Promise<boolean> {
    return manager.existsBy(AccountEntity, { id, passwordHash: Not(IsNull()) });
  }

  async update(id: string, changes: Partial<AccountEntity>, manager?: EntityManager): Promise<void> {
    await (manager ?? this.dataSource.manager).update(AccountEntity, { id }, changes);
  }

  /** Locked until the transaction ends; rows that reference the account can still be inserted. */
  lock(id: string, manager: EntityManager): Promise<AccountEntity | null> {
    return manager.findOne(AccountEntity, { where: { id }, lock: { mode: 'for_no_key_update' } });
  }

  taken(email: string, manager?: EntityManager): Promise<boolean> {
    return (manager ?? this.dataSource.manager).existsBy(AccountEntity, { email });
  }

  /** Oldest first, without organizations. */
  list(): Promise<readonly AccountEntity[]> {
    return this.dataSource.getRepository(AccountEntity).find({ where: { kind: 'person' }, order: { id: 'ASC' } });
  }

  /** IDs of enabled administrators, locked until the transaction ends. */
  async lockAdministrators(manager: EntityManager): Promise<readonly string[]> {
    const rows = await manager.query<{ id: string }[]>(LOCK_ADMINISTRATORS);
    return rows.map(({ id }) => id);
  }

  /** IDs of enabled administrators. */
  async administrators(): Promise<readonly string[]> {
    const where = { role: 'admin', state: 'enabled' } as const;
    return (await this.dataSource.getRepository(AccountEntity).find({ select: { id: true }, where })).map(
      ({ id }) => id,
    );
  }

  /** Blocks the creation of accounts until the transaction ends. */
  async lockAll(manager: EntityManager): Promise<void> {
    await manager.query('LOCK TABLE accounts IN SHARE ROW EXCLUSIVE MODE');
  }

  /** Whether there is any account, as seen by the transaction. */
  any(manager?: EntityManager): Promise<boolean> {
    return (manager ?? this.dataSource.manager).exists(AccountEntity);
  }
}

export const accountOf = (row: AccountEntity): Account => ({
  id: row.id,
  email: row.email,
  name: row.name,
  role: row.role,
  state: row.state,
  groupName: row.groupName ?? undefined,
  limits: limitsIn(row.limits),
  verifiedAt: row.verifiedAt ?? undefined,
  createdAt: row.createdAt,
});

@Entity('accounts')
export class AccountEntity {
  @PrimaryColumn('text')
  readonly id: string;

  /** Nobody signs in to the account of an organization. */
  @Column('text', { default: 'person' })
  readonly kind: 'person' | 'organization';

  @Column('text')
  readonly email: string;

  @Column('text', { default: '' })
  readonly name: string;

  /** Argon2id in PHC notation; null: none chosen yet. Only selected explicitly. */
  @Column('text', { name: 'password_hash', select: false, nullable: true })
  readonly passwordHash: string | null;

  /** Set by someone else: the user can do nothing until they have changed it. */
  @Column('boolean', { name: 'password_is_temporary', default: false })
  readonly passwordIsTemporary: boolean;

  @Column('text', { default: 'user' })
  readonly role: AccountRole;

  @Column('text', { name: 'role_source', nullable: true })
  readonly roleSource: AssignmentSource | null;

  @Column('text', { default: 'enabled' })
  readonly state: AccountState;

  @Column('text', { name: 'group_name', nullable: true })
  readonly groupName: string | null;

  @Column('text', { name: 'group_source', nullable: true })
  readonly groupSource: AssignmentSource | null;

  @Column('text', { name: 'time_zone', default: 'UTC' })
  readonly timeZone: string;

  /** For all its keys together. */
  @Column(() => LimitColumns, { prefix: false })
  readonly limits: LimitColumns;

  @Column('timestamptz', { name: 'verified_at', nullable: true })
  readonly verifiedAt: Date | null;

  @Column('timestamptz', { name: 'created_at', default: () => 'now()' })
  readonly createdAt: Date;
}
