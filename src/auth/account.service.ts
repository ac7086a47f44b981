import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { Notifications, TOPICS } from '../database/index.js';
import { Clock, newId } from '../shared/index.js';
import { AccountExists, AccountNotFound, InvalidAccount } from './account.errors.js';
import { AccountRepository, type NewAccountRow } from './account.repository.js';
import { type Account, accountOf, type AccountState, type CreatedAccount, type NewAccount } from './account.js';
import { normalizeEmail } from './email-address.js';
import { generatePassword, hashPassword, isAcceptablePassword } from './password.js';

/** An account that is checked and whose password is hashed, ready to be stored. */
export interface PreparedAccount {
  readonly row: NewAccountRow;
  readonly created: CreatedAccount;
}

/** Accounts: who they are and whether they may be used. Their money and their keys are other modules'. */
@Injectable()
export class AccountService {
  constructor(
    private readonly accounts: AccountRepository,
    private readonly notifications: Notifications,
    private readonly clock: Clock,
  ) {}

  /**
   * Everything that can be done for a new account before a transaction is opened: hashing takes its time.
   * @throws InvalidAccount
   */
  async prepare(account: NewAccount): Promise<PreparedAccount> {
    const email = emailIn(account.email);
    const name = (account.name ?? '').trim();
    if (!/^[^\p{Cc}]{0,100}$/u.test(name)) throw InvalidAccount.forName();
    const password = account.password ?? generatePassword();
    if (!isAcceptablePassword(password)) throw InvalidAccount.forPassword();
    const now = this.clock.date();
    const row: NewAccountRow = {
      id: newId('acc', now.getTime()),
      email,
      name,
      passwordHash: await hashPassword(password),
      role: account.role ?? 'user',
      groupName: account.groupName ?? null,
      verifiedAt: account.verified ? now : null,
    };
    return { row, created: { id: row.id, email, generatedPassword: account.password ? undefined : password } };
  }

  /** Stores it, in the transaction that also makes its wallet. @throws AccountExists */
  async store({ row, created }: PreparedAccount, manager: EntityManager): Promise<CreatedAccount> {
    if (!(await this.accounts.insert(row, manager))) throw new AccountExists(row.email);
    return created;
  }

  /** Oldest first. */
  async list(): Promise<readonly Account[]> {
    return (await this.accounts.list()).map(accountOf);
  }

  /** By e-mail address, in whatever case. @throws AccountNotFound, InvalidAccount */
  async get(email: string): Promise<Account> {
    const normalized = emailIn(email);
    const row = await this.accounts.find(normalized);
    if (!row) throw new AccountNotFound(normalized);
    return accountOf(row);
  }

  /** Lets its keys be used again. @throws AccountNotFound, InvalidAccount */
  enable(email: string): Promise<void> {
    return this.setState(email, 'enabled');
  }

  /** Refuses all its keys from now on, in every process. @throws AccountNotFound, InvalidAccount */
  disable(email: string): Promise<void> {
    return this.setState(email, 'disabled');
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

  private async setState(email: string, state: AccountState): Promise<void> {
    const { id } = await this.get(email);
    await this.accounts.transaction(async (manager) => {
      await this.accounts.setState(id, state, manager);
      await this.notifications.publish(TOPICS.account, { id }, manager);
    });
  }
}

function emailIn(text: string): string {
  const email = normalizeEmail(text);
  if (email === undefined) throw InvalidAccount.forEmail(text);
  return email;
}
