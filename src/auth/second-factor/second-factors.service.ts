import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { AuditLog } from '../../platform/audit/index.js';
import { Clock } from '../../platform/shared/index.js';
import { AccountGone, accountObject } from '../account.js';
import { AccountRepository } from '../account.repository.js';
import { SessionService } from '../sessions/session.service.js';
import { SecondFactorRepository } from './second-factor.repository.js';
import { newRecoveryCodes, recoveryCodeHash, SecondFactorIsOff, SecondFactorIsOn } from './totp.js';

/** The active second factors of an account. */
export interface SecondFactor {
  readonly since: Date;
  /** Whether an authenticator app is set up. */
  readonly hasApp: boolean;
  readonly passkeys: number;
  /** Unused recovery codes. */
  readonly codesLeft: number;
}

/** The sealed secret, and the time step of the first code. */
interface NewSecondFactor {
  readonly sealedSecret: string;
  readonly step: number;
}

/** Work in the transaction of a change. @returns the line of the audit log */
type FactorWork = (manager: EntityManager) => Promise<string>;

/**
 * Turns second factors on and off and manages recovery codes. Callers authorize. Each change signs the account out of
 * all other browsers, since they signed in without it.
 */
@Injectable()
export class SecondFactors {
  constructor(
    private readonly factors: SecondFactorRepository,
    private readonly accounts: AccountRepository,
    private readonly sessions: SessionService,
    private readonly audit: AuditLog,
    private readonly clock: Clock,
  ) {}

  /** Undefined: off. */
  async of(accountId: string): Promise<SecondFactor | undefined> {
    const row = await this.factors.find(accountId);
    if (row === undefined) return undefined;
    const { turnedOnAt, sealedSecret, passkeys, codesLeft } = row;
    return { since: turnedOnAt, hasApp: sealedSecret !== null, passkeys, codesLeft };
  }

  /**
   * Turns the app on; the step of the first code and all earlier ones are used up.
   * @param sessionId stays signed in
   * @returns recovery codes, which are not stored
   * @throws SecondFactorIsOn
   */
  turnOn(accountId: string, factor: NewSecondFactor, sessionId: string): Promise<readonly string[]> {
    return this.factors.transaction(async (manager) => {
      const on = await this.factors.insert(accountId, { ...factor, now: this.clock.date() }, manager);
      if (!on) throw new SecondFactorIsOn();
      return this.newCodes(accountId, sessionId, manager);
    });
  }

  /** Replaces all recovery codes. @throws SecondFactorIsOff */
  renewCodes(accountId: string, sessionId: string): Promise<readonly string[]> {
    return this.factors.transaction((manager) => this.newCodes(accountId, sessionId, manager));
  }

  /**
   * Turns the app off; passkeys stay.
   * @param sessionId stays signed in
   * @throws AccountGone, SecondFactorIsOff
   */
  turnOffApp(accountId: string, sessionId: string): Promise<void> {
    return this.remove(accountId, sessionId, async (manager) => {
      if (!(await this.factors.deleteApp(accountId, manager))) throw new SecondFactorIsOff();
      return 'second factor on → removed';
    });
  }

  /** Removes app and passkeys, for administrators; signs out all browsers. @throws AccountGone, SecondFactorIsOff */
  removeAll(accountId: string): Promise<void> {
    return this.remove(accountId, undefined, async (manager) => {
      if (!(await this.factors.deleteAll(accountId, manager))) throw new SecondFactorIsOff();
      return 'second factor on → removed';
    });
  }

  /**
   * Adds a second factor to the locked account.
   * @param work returns the line of the audit log
   * @returns recovery codes if it is the first one; all other browsers are then signed out
   * @throws AccountGone, and errors of the work
   */
  add(accountId: string, sessionId: string, work: FactorWork): Promise<readonly string[] | undefined> {
    return this.change(accountId, async (manager) => {
      const isOn = (await this.factors.find(accountId, manager)) !== undefined;
      const line = await work(manager);
      return { line, result: isOn ? undefined : await this.newCodes(accountId, sessionId, manager) };
    });
  }

  /**
   * Removes a second factor from the locked account, and signs out all other browsers.
   * @param sessionId stays signed in; undefined: none
   * @param work returns the line of the audit log
   * @throws AccountGone, and errors of the work
   */
  remove(accountId: string, sessionId: string | undefined, work: FactorWork): Promise<void> {
    return this.change(accountId, async (manager) => {
      const line = await work(manager);
      await this.factors.deleteUnusedCodes(accountId, manager);
      await this.sessions.endAllOf(accountId, sessionId, manager);
      return { line, result: undefined };
    });
  }

  private change<T>(
    accountId: string,
    work: (manager: EntityManager) => Promise<{ readonly line: string; readonly result: T }>,
  ): Promise<T> {
    return this.factors.transaction(async (manager) => {
      const account = await this.accounts.lock(accountId, manager);
      if (account === null || account.state === 'deleted') throw new AccountGone();
      const { line, result } = await work(manager);
      await this.audit.record({ action: 'changed', object: accountObject(account), lines: [line] }, manager);
      return result;
    });
  }

  private async newCodes(accountId: string, sessionId: string, manager: EntityManager): Promise<readonly string[]> {
    const codes = newRecoveryCodes();
    const hashes = codes.map(recoveryCodeHash).filter((hash) => hash !== undefined);
    if (!(await this.factors.replaceCodes(accountId, hashes, manager))) throw new SecondFactorIsOff();
    await this.sessions.endAllOf(accountId, sessionId, manager);
    return codes;
  }
}
