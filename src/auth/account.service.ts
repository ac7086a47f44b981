import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { AuditLog } from '../platform/audit/index.js';
import { Notifications, TOPICS } from '../platform/database/index.js';
import { changedLimits, limitColumns, type Limits, type LimitsChange } from '../platform/limits/index.js';
import { Clock, newId, type Secret } from '../platform/shared/index.js';
import {
  type Account,
  AccountChangedMeanwhile,
  AccountExists,
  AccountGone,
  AccountNotFound,
  accountObject,
  type AccountTerms,
  type CreatedAccount,
  InvalidAccount,
  type NewAccount,
  ROLE_LABELS,
  termDifferences,
  termsRevision,
} from './account.js';
import { accountOf, AccountRepository, type NewAccountRow } from './account.repository.js';
import { normalizeEmail } from './email-address.js';
import { generatePassword, hashPassword, isAcceptablePassword } from './passwords.js';

/** A validated account with a hashed password, ready to be stored. */
export interface PreparedAccount {
  readonly row: NewAccountRow;
  readonly created: CreatedAccount;
}

interface HashedPassword {
  readonly passwordHash: string | null;
  /** Only if none was given. */
  readonly generated: Secret | undefined;
}

/** Accounts and their personal data. `AccountStatus` owns states; money and keys belong to other modules. */
@Injectable()
export class AccountService {
  constructor(
    private readonly accounts: AccountRepository,
    private readonly notifications: Notifications,
    private readonly clock: Clock,
    private readonly audit: AuditLog,
  ) {}

  /**
   * Work before the transaction: validation, and hashing, which is slow.
   * @throws InvalidAccount
   */
  async prepare(account: NewAccount): Promise<PreparedAccount> {
    const email = emailIn(account.email);
    const name = nameIn(account.name ?? '');
    const { passwordHash, generated } = await hashIn(account);
    const now = this.clock.date();
    const row: NewAccountRow = {
      id: newId('acc', now.getTime()),
      email,
      name,
      passwordHash,
      passwordIsTemporary: generated !== undefined || account.passwordIsTemporary === true,
      role: account.role ?? 'user',
      roleSource: account.role === 'admin' ? 'manual' : null,
      groupName: account.groupName ?? null,
      groupSource: account.groupName === undefined ? null : 'manual',
      verifiedAt: account.verified ? now : null,
    };
    return { row, created: { id: row.id, email, generatedPassword: generated } };
  }

  /** Runs a transaction, for changes that must happen together with a change of an account. */
  within<T>(work: (manager: EntityManager) => Promise<T>): Promise<T> {
    return this.accounts.transaction(work);
  }

  /** Stores the account in the transaction that also creates its wallet. @throws AccountExists */
  async store({ row, created }: PreparedAccount, manager: EntityManager): Promise<CreatedAccount> {
    if (!(await this.accounts.insert(row, manager))) throw new AccountExists(row.email);
    const lines = [`role ${ROLE_LABELS[row.role]}`, `group ${row.groupName ?? 'default'}`];
    await this.audit.record({ action: 'created', object: accountObject(row), lines }, manager);
    return created;
  }

  /** Users, oldest first. */
  async list(): Promise<readonly Account[]> {
    return (await this.accounts.list()).map(accountOf);
  }

  /** By email address, ignoring case. @throws AccountNotFound, InvalidAccount */
  async get(email: string): Promise<Account> {
    const normalized = emailIn(email);
    const row = await this.accounts.find(normalized);
    if (!row) throw new AccountNotFound(normalized);
    return accountOf(row);
  }

  /** By normalized address. */
  async find(email: string): Promise<Account | undefined> {
    const row = await this.accounts.find(email);
    return row ? accountOf(row) : undefined;
  }

  /** @throws AccountGone */
  async byId(id: string): Promise<Account> {
    const row = await this.accounts.byId(id);
    if (!row) throw new AccountGone();
    return accountOf(row);
  }

  /** Whether an account has this normalized address. */
  taken(email: string, manager?: EntityManager): Promise<boolean> {
    return this.accounts.taken(email, manager);
  }

  /** Whether a password signs in to it. */
  hasPassword(id: string, manager: EntityManager): Promise<boolean> {
    return this.accounts.hasPassword(id, manager);
  }

  /** @throws InvalidAccount */
  async rename(id: string, name: string): Promise<void> {
    await this.accounts.update(id, { name: nameIn(name) });
  }

  async setTimeZone(id: string, timeZone: string): Promise<void> {
    await this.accounts.update(id, { timeZone });
  }

  /** Sets a password chosen by its owner. */
  async setPasswordHash(id: string, passwordHash: string, manager: EntityManager): Promise<void> {
    await this.accounts.update(id, { passwordHash, passwordIsTemporary: false }, manager);
  }

  /**
   * Marks an address as the account's and verified; it may replace another one.
   * @returns the account before the change
   * @throws AccountExists when another account has the address, AccountGone
   */
  async verify(id: string, email: string, manager: EntityManager): Promise<Account> {
    const before = await this.accounts.lock(id, manager);
    if (!before) throw new AccountGone();
    if (before.email !== email && (await this.accounts.taken(email, manager))) throw new AccountExists(email);
    await this.accounts.update(id, { email, verifiedAt: this.clock.date() }, manager);
    return accountOf(before);
  }

  /**
   * Changes the account's own limits, all or none, in every process. Returns the new ones.
   * @throws InvalidLimit, AccountGone
   */
  async setLimits(id: string, change: LimitsChange): Promise<Limits> {
    const terms = await this.changeTerms(id, (before) => ({
      ...before,
      limits: changedLimits(before.limits, change),
    }));
    return terms.limits;
  }

  /**
   * Sets group and limits of an account, in every process.
   * @param revision revision of the terms that the change is based on
   * @throws AccountChangedMeanwhile when the terms were changed; nothing is written
   * @throws InvalidLimit, AccountGone
   */
  async setTerms(id: string, revision: string, terms: AccountTerms): Promise<void> {
    await this.changeTerms(id, (before) => {
      if (termsRevision(before) !== revision) throw new AccountChangedMeanwhile();
      return terms;
    });
  }

  /** Whether any account exists. */
  any(): Promise<boolean> {
    return this.accounts.any();
  }

  /** The same within a transaction, which then prevents new accounts until it ends. */
  async anyForSure(manager: EntityManager): Promise<boolean> {
    await this.accounts.lockAll(manager);
    return this.accounts.any(manager);
  }

  private changeTerms(id: string, change: (before: AccountTerms) => AccountTerms): Promise<AccountTerms> {
    return this.accounts.transaction(async (manager) => {
      const row = await this.accounts.lock(id, manager);
      if (!row || row.state === 'deleted') throw new AccountGone();
      const before = accountOf(row);
      const after = change(before);
      const lines = termDifferences(before, after);
      if (lines.length === 0) return after;
      const { groupName, limits } = after;
      const group =
        groupName === before.groupName ? {} : { groupName: groupName ?? null, groupSource: 'manual' as const };
      await this.accounts.update(id, { ...group, limits: limitColumns(limits) }, manager);
      await this.notifications.publish(TOPICS.account, { id }, manager);
      await this.audit.record({ action: 'changed', object: accountObject(row), lines }, manager);
      return after;
    });
  }
}

/** @throws InvalidAccount */
async function hashIn({ password: chosen, passwordHash }: NewAccount): Promise<HashedPassword> {
  if (passwordHash !== undefined) return { passwordHash, generated: undefined };
  const password = chosen ?? generatePassword();
  if (!isAcceptablePassword(password)) throw InvalidAccount.forPassword();
  return { passwordHash: await hashPassword(password), generated: chosen ? undefined : password };
}

function nameIn(text: string): string {
  const name = text.trim();
  if (!/^[^\p{Cc}]{0,100}$/u.test(name)) throw InvalidAccount.forName();
  return name;
}

function emailIn(text: string): string {
  const email = normalizeEmail(text);
  if (email === undefined) throw InvalidAccount.forEmail(text);
  return email;
}
