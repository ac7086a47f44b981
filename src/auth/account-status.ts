import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { AuditLog } from '../platform/audit/index.js';
import { Notifications, TOPICS } from '../platform/database/index.js';
import { type AccountEntity, AccountRepository } from './account.repository.js';
import { AccountGone, accountObject, type AccountRole, LastAdministrator, ROLE_WORDS } from './account.js';
import { SignInMethods } from './sign-in-methods.js';

/**
 * What an account may: its role, whether it may be used, and its end. Every change is decided on locked rows and reaches
 * all processes with its commit. Of the administrators that may be used, one stays, whoever asks at the same moment.
 */
@Injectable()
export class AccountStatus {
  constructor(
    private readonly accounts: AccountRepository,
    private readonly ways: SignInMethods,
    private readonly notifications: Notifications,
    private readonly audit: AuditLog,
  ) {}

  /** Lets it sign in and its keys be used again. @throws AccountGone */
  enable(id: string): Promise<void> {
    return this.change(id, async (account, manager) => {
      if (account.state === 'enabled') return;
      await this.accounts.update(id, { state: 'enabled' }, manager);
      await this.audit.record({ action: 'enabled', object: accountObject(account) }, manager);
    });
  }

  /**
   * Refuses it and all its keys from now on, in every process, and ends its sessions: enabled again, it signs in again.
   * @throws AccountGone, LastAdministrator
   */
  disable(id: string): Promise<void> {
    return this.change(id, async (account, manager) => {
      if (account.state === 'disabled') return;
      await this.keepAnAdministrator(account, manager);
      await this.accounts.update(id, { state: 'disabled' }, manager);
      await this.ways.signOut(id, manager);
      await this.audit.record({ action: 'suspended', object: accountObject(account) }, manager);
    });
  }

  /** Counts from the next page that it opens. @throws AccountGone, LastAdministrator */
  setRole(id: string, role: AccountRole): Promise<void> {
    return this.change(id, async (account, manager) => {
      if (account.role === role) return;
      if (role !== 'admin') await this.keepAnAdministrator(account, manager);
      await this.accounts.update(id, { role }, manager);
      const lines = [`role ${ROLE_WORDS[account.role]} → ${ROLE_WORDS[role]}`];
      await this.audit.record({ action: 'changed', object: accountObject(account), lines }, manager);
    });
  }

  /**
   * Takes everything from it that says whose it was. Its address is free again; its row stays, for the calls and the
   * ledger that name it.
   * @param first what else must happen in the same transaction, on the locked account
   * @returns what that leads to
   * @throws AccountGone, LastAdministrator, and what the first work throws
   */
  delete<T>(id: string, first: (manager: EntityManager) => Promise<T>): Promise<T> {
    return this.change(id, async (account, manager) => {
      await this.keepAnAdministrator(account, manager);
      const result = await first(manager);
      await this.ways.end(id, manager);
      await this.accounts.update(id, nobody(id), manager);
      await this.audit.record({ action: 'deleted', object: accountObject(account) }, manager);
      return result;
    });
  }

  private change<T>(id: string, work: (account: AccountEntity, manager: EntityManager) => Promise<T>): Promise<T> {
    return this.accounts.transaction(async (manager) => {
      const result = await work(await this.lock(id, manager), manager);
      await this.notifications.publish(TOPICS.account, { id }, manager);
      return result;
    });
  }

  /** The administrators are locked first and in one order, so that nobody waits for each other. */
  private async lock(id: string, manager: EntityManager): Promise<AccountEntity> {
    await this.accounts.lockAdministrators(manager);
    const account = await this.accounts.lock(id, manager);
    if (account === null || account.state === 'deleted') throw new AccountGone();
    return account;
  }

  /** @throws LastAdministrator */
  private async keepAnAdministrator({ id, role, state }: AccountEntity, manager: EntityManager): Promise<void> {
    if (role !== 'admin' || state !== 'enabled') return;
    const administrators = await this.accounts.lockAdministrators(manager);
    if (administrators.every((one) => one === id)) throw new LastAdministrator();
  }
}

/** What is left of a deleted account. Nothing is ever sent to an address in `.invalid`. */
const nobody = (id: string): Partial<AccountEntity> => ({
  email: `${id}@deleted.invalid`,
  name: '',
  passwordHash: null,
  passwordIsTemporary: false,
  role: 'user',
  state: 'deleted',
  verifiedAt: null,
});
