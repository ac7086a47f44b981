import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { AuditLog } from '../../platform/audit/index.js';
import { Clock } from '../../platform/shared/index.js';
import { AccountGone, accountObject } from '../account.js';
import { AccountRepository } from '../account.repository.js';
import { SessionService } from '../sessions/session.service.js';
import { newRecoveryCodes, recoveryCodeHash } from './totp.js';
import { SecondFactorIsOff, SecondFactorIsOn } from './second-factor.errors.js';
import { SecondFactorRepository } from './second-factor.repository.js';

/** A second factor that is on. */
export interface SecondFactor {
  readonly since: Date;
  /** Recovery codes that were not used yet. */
  readonly codesLeft: number;
}

/** What an account's codes are made from, sealed for it, and the time step of the first one. */
interface NewSecondFactor {
  readonly sealedSecret: string;
  readonly step: number;
}

/**
 * Second factors of accounts: turned on, off, removed, and their recovery codes. Who may, is asked before. Each of these
 * signs the account out of all browsers but the one that asks, since they were signed in without it.
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

  /** Undefined: it is off. */
  async of(accountId: string): Promise<SecondFactor | undefined> {
    const row = await this.factors.find(accountId);
    return row && { since: row.turnedOnAt, codesLeft: row.codesLeft };
  }

  /**
   * Turns it on. The step of the first code is used up by it, with those before.
   * @param sessionId that asks
   * @returns the recovery codes, which are kept nowhere
   * @throws SecondFactorIsOn
   */
  turnOn(accountId: string, factor: NewSecondFactor, sessionId: string): Promise<readonly string[]> {
    return this.factors.transaction(async (manager) => {
      const on = await this.factors.insert(accountId, { ...factor, now: this.clock.date() }, manager);
      if (!on) throw new SecondFactorIsOn();
      return this.newCodes(accountId, sessionId, manager);
    });
  }

  /** Others in the place of all recovery codes. @throws SecondFactorIsOff */
  renewCodes(accountId: string, sessionId: string): Promise<readonly string[]> {
    return this.factors.transaction((manager) => this.newCodes(accountId, sessionId, manager));
  }

  /**
   * Turns it off, for owners and, recorded, for operators.
   * @param sessionId of the owner that asks; undefined: they are signed out everywhere
   * @throws AccountGone, SecondFactorIsOff
   */
  turnOff(accountId: string, sessionId?: string): Promise<void> {
    return this.factors.transaction(async (manager) => {
      const account = await this.accounts.lock(accountId, manager);
      if (account === null) throw new AccountGone();
      if (!(await this.factors.delete(accountId, manager))) throw new SecondFactorIsOff();
      await this.sessions.endAllOf(accountId, sessionId, manager);
      const lines = ['second factor on → removed'];
      await this.audit.record({ action: 'changed', object: accountObject(account), lines }, manager);
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
