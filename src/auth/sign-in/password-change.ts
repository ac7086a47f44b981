import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { Secret } from '../../platform/shared/index.js';
import { InvalidAccount } from '../account.js';
import { AccountRepository } from '../account.repository.js';
import { AccountService } from '../account.service.js';
import { AccountMails } from '../mails/account-mails.js';
import { checkChoice, Passwords } from '../passwords.js';
import { SessionService } from '../sessions/session.service.js';
import { Verifications } from '../verification/verification.service.js';

/** Work in the same transaction, before the password is set. */
type FirstWork = (manager: EntityManager) => Promise<unknown>;

/**
 * Sets passwords. Ends all sessions and withdraws pending verifications: with one of them, someone could regain the
 * account.
 */
@Injectable()
export class PasswordChange {
  constructor(
    private readonly accounts: AccountService,
    private readonly passwords: Passwords,
    private readonly sessions: SessionService,
    private readonly verifications: Verifications,
    private readonly mails: AccountMails,
  ) {}

  /** @throws InvalidAccount when the password is too short or too common; errors of `first` */
  async set(accountId: string, password: Secret, first: FirstWork = () => Promise.resolve()): Promise<void> {
    const account = await this.accounts.byId(accountId);
    checkChoice(password, account);
    const hash = await this.passwords.hash(password);
    await this.accounts.within(async (manager) => {
      await first(manager);
      await this.verifications.withdraw(accountId, manager);
      await this.accounts.setPasswordHash(accountId, hash, manager);
      await this.sessions.endAllOf(accountId, undefined, manager);
    });
    this.mails.sendPasswordChanged(account.email);
  }
}

/** Replaces a temporary password by one that only its owner knows. */
@Injectable()
export class OwnPassword {
  constructor(
    private readonly accounts: AccountRepository,
    private readonly passwords: Passwords,
    private readonly change: PasswordChange,
  ) {}

  /** Ends sessions of the old password. @throws InvalidAccount */
  async choose(accountId: string, password: Secret): Promise<void> {
    const account = await this.accounts.withPassword({ id: accountId });
    if (await this.passwords.matches(password, account?.passwordHash))
      throw new InvalidAccount('password', 'Choose a different password than the one you were given.');
    await this.change.set(accountId, password);
  }
}
