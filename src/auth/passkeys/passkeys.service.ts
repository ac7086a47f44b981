import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { AppError, Clock, newId } from '../../platform/shared/index.js';
import type { Account } from '../account.js';
import { accountOf, AccountRepository } from '../account.repository.js';
import { PASSKEY_ADDED, PASSKEY_REMOVED } from '../mails/mail-text.js';
import { LastSignInMethod } from '../providers/linked-identities.js';
import { SecondFactorMails } from '../second-factor/second-factor-check.js';
import { SecondFactors } from '../second-factor/second-factors.service.js';
import { PasswordPolicy } from '../sign-in/password-policy.js';
import { AccountSuspended } from '../sign-in/sign-in.service.js';
import { SecurityLog, type Visit, type Visitor } from '../visit.js';
import type { ChallengeUse } from './passkey-challenges.js';
import { type CreationOptions, PasskeyCeremonies, PasskeyRefused, type RequestOptions } from './passkey-ceremonies.js';
import { type NewPasskey, type Passkey, PasskeyRepository } from './passkey.repository.js';

const MAX_PASSKEYS = 20;

export class PasskeyNotFound extends AppError {
  constructor() {
    super('not_found', 'Your account has no such passkey.');
  }
}

class TooManyPasskeys extends AppError {
  constructor() {
    super('conflict', `An account has at most ${MAX_PASSKEYS} passkeys. Remove one first.`);
  }
}

class PasskeyTaken extends AppError {
  constructor() {
    super('conflict', 'This passkey is already registered.');
  }
}

/** The passkeys of signed-in users. Callers require a recent sign-in for `add` and `remove`. */
@Injectable()
export class Passkeys {
  constructor(
    private readonly passkeys: PasskeyRepository,
    private readonly ceremonies: PasskeyCeremonies,
    private readonly factors: SecondFactors,
    private readonly mails: SecondFactorMails,
    private readonly clock: Clock,
  ) {}

  /** Oldest first. */
  list(accountId: string): Promise<readonly Passkey[]> {
    return this.passkeys.list(accountId);
  }

  /** @throws PasskeyNotFound */
  async get(accountId: string, id: string): Promise<Passkey> {
    const passkey = (await this.list(accountId)).find((one) => one.id === id);
    if (passkey === undefined) throw new PasskeyNotFound();
    return passkey;
  }

  /** @throws TooManyPasskeys, TooManyAttempts */
  async creationOptions(visitor: Visitor, visit: Visit): Promise<CreationOptions> {
    if ((await this.list(visitor.accountId)).length >= MAX_PASSKEYS) throw new TooManyPasskeys();
    return this.ceremonies.creationOptions(visitor, visit);
  }

  /**
   * Adds the passkey that a browser has created. The owner is notified by email.
   * @param response as JSON
   * @returns recovery codes if it is the account's first second factor; all other browsers are then signed out
   * @throws PasskeyRefused, PasskeyTaken, TooManyPasskeys, AccountGone
   */
  async add(visitor: Visitor, name: string, response: string, visit: Visit): Promise<readonly string[] | undefined> {
    const { accountId, sessionId } = visitor;
    const credential = await this.ceremonies.verifyCreation(response, visitor, visit);
    const now = this.clock.date();
    const passkey = { ...credential, id: newId('psk', now.getTime()), accountId, name, createdAt: now };
    const codes = await this.factors.add(accountId, sessionId, (manager) => this.insert(passkey, manager));
    await this.mails.notify(accountId, PASSKEY_ADDED(name));
    return codes;
  }

  /** @throws PasskeyNotFound */
  async rename(accountId: string, id: string, name: string): Promise<void> {
    if (!(await this.passkeys.rename(accountId, id, name))) throw new PasskeyNotFound();
  }

  /**
   * Signs out all other browsers. The owner is notified by email.
   * @returns its name
   * @throws PasskeyNotFound, LastSignInMethod, AccountGone
   */
  async remove({ accountId, sessionId }: Visitor, id: string): Promise<string> {
    const { name } = await this.get(accountId, id);
    await this.factors.remove(accountId, sessionId, (manager) => this.delete(accountId, id, manager));
    await this.mails.notify(accountId, PASSKEY_REMOVED(name));
    return name;
  }

  /** @returns the line of the audit log */
  private async insert(passkey: NewPasskey, manager: EntityManager): Promise<string> {
    const known = await this.passkeys.list(passkey.accountId, manager);
    if (known.length >= MAX_PASSKEYS) throw new TooManyPasskeys();
    if (!(await this.passkeys.insert(passkey, manager))) throw new PasskeyTaken();
    return `passkey “${passkey.name}” added`;
  }

  /** @returns the line of the audit log */
  private async delete(accountId: string, id: string, manager: EntityManager): Promise<string> {
    const name = await this.passkeys.delete(accountId, id, manager);
    if (name === undefined) throw new PasskeyNotFound();
    if (!(await this.passkeys.canSignIn(accountId, manager))) throw new LastSignInMethod();
    return `passkey “${name}” removed`;
  }
}

/** Signs in with passkeys: alone, or after another first factor. */
@Injectable()
export class PasskeySignIn {
  constructor(
    private readonly ceremonies: PasskeyCeremonies,
    private readonly accounts: AccountRepository,
    private readonly policy: PasswordPolicy,
    private readonly log: SecurityLog,
  ) {}

  /** @param accountId whose first factor was verified; undefined: a sign-in without a password @throws TooManyAttempts */
  options(visit: Visit, accountId?: string): Promise<RequestOptions> {
    return this.ceremonies.requestOptions(useFor(accountId), visit);
  }

  /**
   * The account that the passkey signs in to.
   * @param response as JSON
   * @param accountId as of `options`
   * @throws PasskeyRefused, AccountSuspended, PasswordSignInIsOff
   */
  async check(response: string, visit: Visit, accountId?: string): Promise<Account> {
    const passkey = await this.verified(response, visit, accountId);
    const account = await this.accounts.byId(passkey.accountId);
    if (account === null) throw new PasskeyRefused();
    if (account.state !== 'enabled') {
      this.log.refused('suspended', account.id, visit.ip);
      throw new AccountSuspended();
    }
    // Users who must sign in with a provider cannot avoid it with a passkey.
    if (accountId === undefined) await this.policy.check(account);
    return accountOf(account);
  }

  private async verified(response: string, visit: Visit, accountId: string | undefined) {
    try {
      return await this.ceremonies.verifyUse(response, useFor(accountId), visit);
    } catch (error) {
      if (error instanceof PasskeyRefused) this.log.refused('passkey', accountId, visit.ip);
      throw error;
    }
  }
}

const useFor = (accountId: string | undefined): ChallengeUse =>
  accountId === undefined ? { purpose: 'sign-in' } : { purpose: 'second factor', accountId };
