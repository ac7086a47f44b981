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
  ROLE_WORDS,
  termDifferences,
  termsRevision,
} from './account.js';
import { accountOf, AccountRepository, type NewAccountRow } from './account.repository.js';
import { normalizeEmail } from './email-address.js';
import { generatePassword, hashPassword, isAcceptablePassword } from './passwords.js';

/** An account that is checked and whose password is hashed, ready to be stored. */
export interface PreparedAccount {
  readonly row: NewAccountRow;
  readonly created: CreatedAccount;
}

interface HashedPassword {
  readonly passwordHash: string | null;
  /** Only when nobody chose one. */
  readonly generated: Secret | undefined;
}

/** Accounts: who they are. Whether they may be used is `AccountStanding`'s, their money and their keys other modules'. */
@Injectable()
export class AccountService {
  constructor(
    private readonly accounts: AccountRepository,
    private readonly notifications: Notifications,
    private readonly clock: Clock,
    private readonly audit: AuditLog,
  ) {}

  /**
   * Everything that can be done for a new account before a transaction is opened: hashing takes its time.
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
      groupName: account.groupName ?? null,
      verifiedAt: account.verified ? now : null,
    };
    return { row, created: { id: row.id, email, generatedPassword: generated } };
  }

  /** A transaction, for what must happen together with a change of an account. */
  within<T>(work: (manager: EntityManager) => Promise<T>): Promise<T> {
    return this.accounts.transaction(work);
  }

  /** Stores it, in the transaction that also makes its wallet. @throws AccountExists */
  async store({ row, created }: PreparedAccount, manager: EntityManager): Promise<CreatedAccount> {
    if (!(await this.accounts.insert(row, manager))) throw new AccountExists(row.email);
    const lines = [`role ${ROLE_WORDS[row.role]}`, `group ${row.groupName ?? 'default'}`];
    await this.audit.record({ action: 'created', object: accountObject(row), lines }, manager);
    return created;
  }

  /** Oldest first. */
  async list(): Promise<readonly Account[]> {
    return (await this.accounts.list()).map(accountOf);
  }

  /** By email address, in whatever case. @throws AccountNotFound, InvalidAccount */
  async get(email: string): Promise<Account> {
    const normalized = emailIn(email);
    const row = await this.accounts.find(normalized);
    if (!row) throw new AccountNotFound(normalized);
    return accountOf(row);
  }

  /** By an address in the form it is stored in. */
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

  /** Whether there is an account with this address, which is in the form it is stored in. */
  taken(email: string, manager?: EntityManager): Promise<boolean> {
    return this.accounts.taken(email, manager);
  }

  /** @throws InvalidAccount */
  async rename(id: string, name: string): Promise<void> {
    await this.accounts.update(id, { name: nameIn(name) });
  }

  async setTimeZone(id: string, timeZone: string): Promise<void> {
    await this.accounts.update(id, { timeZone });
  }

  /** One that its owner has chosen. */
  async setPasswordHash(id: string, passwordHash: string, manager: EntityManager): Promise<void> {
    await this.accounts.update(id, { passwordHash, passwordIsTemporary: false }, manager);
  }

  /**
   * Notes that an address was shown to be this account's, which may be another one than it had until then.
   * @returns the account as it was before
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
   * Changes its own limits, all that are named or none, in every process; returns those that it has then.
   * @throws LimitNotPossible, AccountNotFound, InvalidAccount
   */
  async setLimits(email: string, change: LimitsChange): Promise<Limits> {
    const { id } = await this.get(email);
    const terms = await this.changeTerms(id, (before) => ({
      ...before,
      limits: changedLimits(before.limits, change),
    }));
    return terms.limits;
  }

  /**
   * What its calls are billed under from now on, unless a key names another group, and its own limits; in every process.
   * @param revision of the terms that these were made from
   * @throws AccountChangedMeanwhile when it has others by now, and nothing is overwritten
   * @throws LimitNotPossible, AccountGone
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

  /** The same within a transaction; the answer stays true until it ends, because no account is made meanwhile. */
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
      await this.accounts.update(id, { groupName: groupName ?? null, limits: limitColumns(limits) }, manager);
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
