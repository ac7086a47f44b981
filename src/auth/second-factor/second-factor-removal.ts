import { Injectable } from '@nestjs/common';
import { SECOND_FACTOR_REMOVED } from '../mails/second-factor-text.js';
import { SecondFactorMails } from './second-factor-mails.js';
import { SecondFactors } from './second-factors.service.js';

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
