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

/** What somebody shows who weakens how they sign in: both of what signing in takes. */
interface BothFactors {
  readonly currentPassword: string;
  readonly code: string;
}

/** What people do with a second factor that is on: it takes the password and a code, however recent the sign-in. */
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
   * @throws WrongPassword, CodeNotAccepted, CodesUnreadable, SecondFactorIsOff, and AppError with the parameter of
   * what was tried too often
   */
  async turnOff(visitor: Visitor, given: BothFactors): Promise<void> {
    const { accountId, sessionId } = visitor;
    await this.confirm(visitor, given);
    await this.factors.turnOff(accountId, sessionId);
    await this.mails.tell(accountId, SECOND_FACTOR_OFF);
  }

  /** @returns recovery codes in the place of those before @throws as `turnOff` */
  async renewCodes(visitor: Visitor, given: BothFactors): Promise<readonly string[]> {
    const { accountId, sessionId } = visitor;
    await this.confirm(visitor, given);
    const codes = await this.factors.renewCodes(accountId, sessionId);
    await this.mails.tell(accountId, RECOVERY_CODES_REPLACED);
    return codes;
  }

  /** The password first: a code is used up by being right. */
  private async confirm(visitor: Visitor, { currentPassword, code }: BothFactors): Promise<void> {
    await this.signIn.confirm(visitor, new Secret(currentPassword)).catch(besideField('currentPassword'));
    await this.check.confirm(visitor.accountId, code).catch((error: unknown) => {
      if (error instanceof CodeNotAccepted) this.log.notConfirmed('code', visitor);
      return besideField('code')(error);
    });
  }
}

/** What operators do for somebody who has lost both the app and the recovery codes. */
@Injectable()
export class SecondFactorRemoval {
  constructor(
    private readonly factors: SecondFactors,
    private readonly mails: SecondFactorMails,
  ) {}

  /** Recorded; the owner is told by mail. @throws AccountGone, SecondFactorIsOff */
  async remove(accountId: string): Promise<void> {
    await this.factors.turnOff(accountId);
    await this.mails.tell(accountId, SECOND_FACTOR_REMOVED);
  }
}
