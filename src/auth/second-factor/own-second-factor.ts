import { Injectable } from '@nestjs/common';
import { Secret } from '../../platform/shared/index.js';
import { RECOVERY_CODES_REPLACED, SECOND_FACTOR_OFF, SECOND_FACTOR_REMOVED } from '../mails/mail-text.js';
import { SecurityLog } from '../security-log.js';
import { SignIn } from '../sign-in/sign-in.service.js';
import { besideField } from '../throttle/throttle.js';
import type { Visitor } from '../visit.js';
import { SecondFactorCheck, SecondFactorMails } from './second-factor-check.js';
import { CodeNotAccepted } from './second-factor.errors.js';
import { SecondFactors } from './second-factors.service.js';

/** Both factors, required for weakening the sign-in. */
interface BothFactors {
  readonly currentPassword: string;
  readonly code: string;
}

/** Managing one's second factor. Requires the password and a code, however recent the sign-in. */
@Injectable()
export class OwnSecondFactor {
  constructor(
    private readonly factors: SecondFactors,
    private readonly check: SecondFactorCheck,
    private readonly signIn: SignIn,
    private readonly mails: SecondFactorMails,
    private readonly log: SecurityLog,
  ) {}

  /**
   * @throws WrongPassword, CodeNotAccepted, CodesUnreadable, SecondFactorIsOff, and AppError with the parameter that
   * was tried too often
   */
  async turnOff(visitor: Visitor, given: BothFactors): Promise<void> {
    const { accountId, sessionId } = visitor;
    await this.confirm(visitor, given);
    await this.factors.turnOff(accountId, sessionId);
    await this.mails.tell(accountId, SECOND_FACTOR_OFF);
  }

  /** @returns new recovery codes, which replace all others @throws as `turnOff` */
  async renewCodes(visitor: Visitor, given: BothFactors): Promise<readonly string[]> {
    const { accountId, sessionId } = visitor;
    await this.confirm(visitor, given);
    const codes = await this.factors.renewCodes(accountId, sessionId);
    await this.mails.tell(accountId, RECOVERY_CODES_REPLACED);
    return codes;
  }

  /** The password first, because a correct code is used up. */
  private async confirm(visitor: Visitor, { currentPassword, code }: BothFactors): Promise<void> {
    await this.signIn.confirm(visitor, new Secret(currentPassword)).catch(besideField('currentPassword'));
    await this.check.confirm(visitor.accountId, code).catch((error: unknown) => {
      if (error instanceof CodeNotAccepted) this.log.notConfirmed('code', visitor);
      return besideField('code')(error);
    });
  }
}

/** Removal by an administrator, for users who lost both app and recovery codes. */
@Injectable()
export class SecondFactorRemoval {
  constructor(
    private readonly factors: SecondFactors,
    private readonly mails: SecondFactorMails,
  ) {}

  /** Audited; the owner is notified by email. @throws AccountGone, SecondFactorIsOff */
  async remove(accountId: string): Promise<void> {
    await this.factors.turnOff(accountId);
    await this.mails.tell(accountId, SECOND_FACTOR_REMOVED);
  }
}
