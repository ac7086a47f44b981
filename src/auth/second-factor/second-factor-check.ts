import { Injectable, Logger } from '@nestjs/common';
import { Clock, networkOf, type Secret, UnreadableSecret } from '../../platform/shared/index.js';
import { RECOVERY_CODE_USED } from '../mails/second-factor-text.js';
import { Throttle } from '../throttle/throttle.js';
import { typedCode } from '../verification/verification.js';
import { FactorSecrets } from './factor-secrets.js';
import { recoveryCodeHash } from './recovery-codes.js';
import { CodeNotAccepted, CodesUnreadable } from './second-factor.errors.js';
import { SecondFactorMails } from './second-factor-mails.js';
import { SecondFactorRepository } from './second-factor.repository.js';
import { totpStep } from './totp.js';

/** What was accepted, and is used up. */
export interface AcceptedCode {
  /** Of a recovery code: how many are left; undefined: it was the app's. */
  readonly codesLeft: number | undefined;
}

/** Finds out whether a code is the account's: of the app, or a recovery code. Each is accepted once, in all processes. */
@Injectable()
export class SecondFactorCheck {
  private readonly logger = new Logger('Accounts');

  constructor(
    private readonly factors: SecondFactorRepository,
    private readonly secrets: FactorSecrets,
    private readonly throttle: Throttle,
    private readonly mails: SecondFactorMails,
    private readonly clock: Clock,
  ) {}

  /**
   * Of somebody who signs in, and whose password was right.
   * @param ip from where it was sent
   * @throws CodeNotAccepted, CodesUnreadable, TooManyTries
   */
  async signIn(accountId: string, typed: string, ip: string): Promise<AcceptedCode> {
    const network = networkOf(ip);
    await this.throttle.spend('code-from-network', network);
    await this.throttle.spend('second-factor-of-account', accountId);
    const accepted = await this.accept(accountId, typed);
    await this.throttle.forget('second-factor-of-account', accountId);
    await this.throttle.giveBack('code-from-network', network);
    return accepted;
  }

  /** Of somebody who is signed in. @throws CodeNotAccepted, CodesUnreadable, TooManyTries */
  async confirm(accountId: string, typed: string): Promise<void> {
    await this.throttle.spend('second-factor-of-session', accountId);
    await this.accept(accountId, typed);
    await this.throttle.forget('second-factor-of-session', accountId);
  }

  private async accept(accountId: string, typed: string): Promise<AcceptedCode> {
    const code = typedCode(typed);
    return code === undefined ? this.acceptRecoveryCode(accountId, typed) : this.acceptOfApp(accountId, code);
  }

  private async acceptOfApp(accountId: string, code: string): Promise<AcceptedCode> {
    const secret = await this.secretOf(accountId);
    const step = secret && totpStep(secret, code, this.clock.now());
    if (step === undefined || !(await this.factors.useStep(accountId, step))) throw new CodeNotAccepted();
    return { codesLeft: undefined };
  }

  private async acceptRecoveryCode(accountId: string, typed: string): Promise<AcceptedCode> {
    const hash = recoveryCodeHash(typed);
    if (hash === undefined || !(await this.factors.useCode(accountId, hash, this.clock.date())))
      throw new CodeNotAccepted();
    const codesLeft = (await this.factors.find(accountId))?.codesLeft ?? 0;
    await this.mails.tell(accountId, RECOVERY_CODE_USED(codesLeft));
    return { codesLeft };
  }

  /** Undefined: it was turned off meanwhile. @throws CodesUnreadable */
  private async secretOf(accountId: string): Promise<Secret | undefined> {
    const factor = await this.factors.find(accountId);
    if (factor === undefined) return undefined;
    try {
      return this.secrets.openForAccount(factor.sealedSecret, accountId);
    } catch (error) {
      if (!(error instanceof UnreadableSecret)) throw error;
      this.logger.warn(
        `Cannot decrypt the two-factor secret of ${accountId}: SECRET_KEY has changed. Turn it off with "switchboard account second-factor remove"`,
      );
      throw new CodesUnreadable();
    }
  }
}
