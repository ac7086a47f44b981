import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { AuditLog } from '../../audit/index.js';
import { Clock, type Secret } from '../../shared/index.js';
import { AccountGone } from '../account.errors.js';
import { AccountRepository } from '../account.repository.js';
import { accountObject } from '../account-words.js';
import { newRecoveryCodes, recoveryCodeHash } from './recovery-codes.js';
import { CodeNotAccepted, SecondFactorIsOff, SecondFactorIsOn } from './second-factor.errors.js';
import { SecondFactorRepository } from './second-factor.repository.js';
import { FactorSecrets } from './factor-secrets.js';
import { totpStep } from './totp.js';
import { typedCode } from '../verification/verification.js';

/** A second factor that is on. */
export interface SecondFactor {
  readonly since: Date;
  /** Recovery codes that were not used yet. */
  readonly codesLeft: number;
}

/** Second factors of accounts: turned on, off, removed, and their recovery codes. Who may, is asked before. */
@Injectable()
export class SecondFactors {
  constructor(
    private readonly factors: SecondFactorRepository,
    private readonly secrets: FactorSecrets,
    private readonly accounts: AccountRepository,
    private readonly audit: AuditLog,
    private readonly clock: Clock,
  ) {}

  /** Undefined: it is off. */
  async of(accountId: string): Promise<SecondFactor | undefined> {
    const row = await this.factors.find(accountId);
    return row && { since: row.turnedOnAt, codesLeft: row.codesLeft };
  }

  /**
   * Turns it on for whoever shows, by a first code, that their app makes codes of this secret. The code is used up by it.
   * @returns the recovery codes, which are kept nowhere
   * @throws CodeNotAccepted, SecondFactorIsOn
   */
  async turnOn(accountId: string, secret: Secret, typed: string): Promise<readonly string[]> {
    const code = typedCode(typed);
    const step = code === undefined ? undefined : totpStep(secret, code, this.clock.now());
    if (step === undefined) throw new CodeNotAccepted();
    const sealedSecret = this.secrets.sealForAccount(secret, accountId);
    return this.factors.transaction(async (manager) => {
      const on = await this.factors.insert(accountId, { sealedSecret, step, now: this.clock.date() }, manager);
      if (!on) throw new SecondFactorIsOn();
      return this.newCodes(accountId, manager);
    });
  }

  /** Others in the place of all recovery codes. @throws SecondFactorIsOff */
  renewCodes(accountId: string): Promise<readonly string[]> {
    return this.factors.transaction((manager) => this.newCodes(accountId, manager));
  }

  /**
   * Turns it off, for owners and, recorded, for operators.
   * @throws AccountGone, SecondFactorIsOff
   */
  turnOff(accountId: string): Promise<void> {
    return this.factors.transaction(async (manager) => {
      const account = await this.accounts.lock(accountId, manager);
      if (account === null) throw new AccountGone();
      if (!(await this.factors.delete(accountId, manager))) throw new SecondFactorIsOff();
      const lines = ['second factor on → removed'];
      await this.audit.record({ action: 'changed', object: accountObject(account), lines }, manager);
    });
  }

  private async newCodes(accountId: string, manager: EntityManager): Promise<readonly string[]> {
    const codes = newRecoveryCodes();
    const hashes = codes.map(recoveryCodeHash).filter((hash) => hash !== undefined);
    if (!(await this.factors.replaceCodes(accountId, hashes, manager))) throw new SecondFactorIsOff();
    return codes;
  }
}
