import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { AuditLog } from '../platform/audit/index.js';
import { Notifications, TOPICS } from '../platform/database/index.js';
import { AccountGone, accountObject, type AccountRole, LastAdministrator, ROLE_LABELS } from './account.js';
import { type AccountEntity, AccountRepository } from './account.repository.js';
import { SecondFactorRepository } from './second-factor/second-factor.repository.js';
import { SessionRepository } from './sessions/session.repository.js';
import { VerificationRepository } from './verification/verification.repository.js';

/** With the ID tokens, which contain personal data. */
const END_PROVIDER_SESSIONS = `
  DELETE FROM provider_sessions s USING linked_identities i
   WHERE i.account_id = $1 AND s.issuer = i.issuer AND s.subject = i.subject`;

/** Everything that gives access to an account: sessions, pending proofs, second factors, linked identities. */
@Injectable()
export class SignInMethods {
  constructor(
    private readonly sessions: SessionRepository,
    private readonly verifications: VerificationRepository,
    private readonly factors: SecondFactorRepository,
  ) {}

  /** Signs out all browsers. */
  async signOut(accountId: string, manager: EntityManager): Promise<void> {
    await this.sessions.deleteAllOf(accountId, undefined, manager);
  }

  /** Deletes all of them, with the addresses that they were sent to. */
  async end({ id, email }: Pick<AccountEntity, 'id' | 'email'>, manager: EntityManager): Promise<void> {
    await this.signOut(id, manager);
    await this.verifications.deleteAllOf(id, email, manager);
    await this.factors.deleteAll(id, manager);
    await manager.query(END_PROVIDER_SESSIONS, [id]);
    await manager.query('DELETE FROM linked_identities WHERE account_id = $1', [id]);
  }
}

/**
 * Roles, states and deletion of accounts. Changes are decided on locked rows and take effect in all processes on
 * commit. One enabled administrator always remains.
 */
@Injectable()
export class AccountStatus {
  constructor(
    private readonly accounts: AccountRepository,
    private readonly signInMethods: SignInMethods,
    private readonly notifications: Notifications,
    private readonly audit: AuditLog,
  ) {}

  /** Allows sign-in and the account's keys again. @throws AccountGone */
  enable(id: string): Promise<void> {
    return this.change(id, async (account, manager) => {
      if (account.state === 'enabled') return;
      await this.accounts.update(id, { state: 'enabled' }, manager);
      await this.audit.record({ action: 'enabled', object: objectOf(account) }, manager);
    });
  }

  /**
   * Rejects sign-in and all keys in every process, and ends all sessions for good.
   * @throws AccountGone, LastAdministrator
   */
  disable(id: string): Promise<void> {
    return this.change(id, async (account, manager) => {
      if (account.state === 'disabled') return;
      await this.keepAnAdministrator(account, manager);
      await this.accounts.update(id, { state: 'disabled' }, manager);
      await this.signInMethods.signOut(id, manager);
      await this.audit.record({ action: 'suspended', object: objectOf(account) }, manager);
    });
  }

  /** Takes effect with the next request. @throws AccountGone, LastAdministrator */
  setRole(id: string, role: AccountRole): Promise<void> {
    return this.change(id, async (account, manager) => {
      if (account.role === role) return;
      if (role !== 'admin') await this.keepAnAdministrator(account, manager);
      await this.accounts.update(id, { role, roleSource: 'manual' }, manager);
      const lines = [`role ${ROLE_LABELS[account.role]} → ${ROLE_LABELS[role]}`];
      await this.audit.record({ action: 'changed', object: accountObject(account), lines }, manager);
    });
  }

  /**
   * Removes all personal data. The email address is free again; the row stays for the calls and ledger entries that
   * reference it.
   * @param first further work in the same transaction, on the locked account
   * @returns the result of `first`
   * @throws AccountGone, LastAdministrator, and errors of `first`
   */
  delete<T>(id: string, first: (manager: EntityManager) => Promise<T>): Promise<T> {
    return this.change(id, async (account, manager) => {
      await this.keepAnAdministrator(account, manager);
      const result = await first(manager);
      await this.signInMethods.end(account, manager);
      await this.accounts.update(id, erasedColumns(id), manager);
      await this.audit.record({ action: 'deleted', object: objectOf(account) }, manager);
      return result;
    });
  }

  /** Whether the account is the only administrator who can sign in. */
  async isLastAdministrator(id: string): Promise<boolean> {
    const administrators = await this.accounts.administrators();
    return administrators.includes(id) && administrators.length === 1;
  }

  private change<T>(id: string, work: (account: AccountEntity, manager: EntityManager) => Promise<T>): Promise<T> {
    return this.accounts.transaction(async (manager) => {
      const result = await work(await this.lock(id, manager), manager);
      await this.notifications.publish(TOPICS.account, { id }, manager);
      return result;
    });
  }

  /** Administrators are locked first and in a fixed order, to avoid deadlocks. */
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

const objectOf = (account: AccountEntity) =>
  account.kind === 'organization'
    ? ({ kind: 'organization', id: account.id, name: account.name } as const)
    : accountObject(account);

/** Columns of a deleted account. `.invalid` addresses never receive mail. */
const erasedColumns = (id: string): Partial<AccountEntity> => ({
  email: `${id}@deleted.invalid`,
  name: '',
  timeZone: 'UTC',
  passwordHash: null,
  passwordIsTemporary: false,
  role: 'user',
  roleSource: null,
  state: 'deleted',
  verifiedAt: null,
});
