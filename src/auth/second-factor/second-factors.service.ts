import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { AuditLog } from '../../platform/audit/index.js';
import { Clock } from '../../platform/shared/index.js';
import { AccountGone, accountObject } from '../account.js';
import { AccountRepository } from '../account.repository.js';
import { SessionService } from '../sessions/session.service.js';
import { SecondFactorRepository } from './second-factor.repository.js';
import { newRecoveryCodes, recoveryCodeHash, SecondFactorIsOff, SecondFactorIsOn } from './totp.js';

/** An active second factor. */
export interface SecondFactor {
  readonly since: Date;
  /** Unused recovery codes. */
  readonly codesLeft: number;
}

/** The sealed secret, and the time step of the first code. */
interface NewSecondFactor {
  readonly sealedSecret: string;
  readonly step: number;
}

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
    return row && { since: row.turnedOnAt, codesLeft: row.codesLeft };
  }

  /**
   * Turns it on; the step of the first code and all earlier ones are used up.
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
   * Turns it off, for owners and (audited) for administrators.
   * @param sessionId the owner's session, which stays signed in; undefined: all are signed out
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
