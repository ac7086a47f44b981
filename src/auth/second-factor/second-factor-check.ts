import { Injectable, Logger } from '@nestjs/common';
import { Config } from '../../platform/config/index.js';
import { Mailer } from '../../platform/mail/index.js';
import { Clock, networkOf, SealingKey, type Secret, UnreadableSecret } from '../../platform/shared/index.js';
import { AccountRepository } from '../account.repository.js';
import { MailWriter } from '../mails/account-mails.js';
import { RECOVERY_CODE_USED, type MailTextBuilder } from '../mails/mail-text.js';
import { Throttle } from '../throttle/throttle.js';
import { parseCode } from '../verification/verification.js';
import { SecondFactorRepository } from './second-factor.repository.js';
import { CodeNotAccepted, CodesUnreadable, recoveryCodeHash, totpStep } from './totp.js';

const PURPOSE = 'switchboard second factors v1';

/** The session of a setup. */
interface SetUpBy {
  readonly accountId: string;
  readonly sessionId: string;
}

/**
 * Seals TOTP secrets: for the database, bound to the account, and for the setup form, bound to the session, so that
 * unfinished setups are not stored.
 */
@Injectable()
export class FactorSecrets {
  private readonly key: SealingKey;

  constructor({ secretKey }: Config) {
    this.key = new SealingKey(secretKey, PURPOSE);
  }

  sealForAccount(secret: Secret, accountId: string): string {
    return this.key.seal(secret, `account\n${accountId}`);
  }

  /** @throws UnreadableSecret */
  openForAccount(sealed: string, accountId: string): Secret {
    return this.key.open(sealed, `account\n${accountId}`);
  }

  sealForSetUp(secret: Secret, { accountId, sessionId }: SetUpBy): string {
    return this.key.seal(secret, `setting up\n${accountId}\n${sessionId}`);
  }

  /** @throws UnreadableSecret when it belongs to another session */
  openForSetUp(sealed: string, { accountId, sessionId }: SetUpBy): Secret {
    return this.key.open(sealed, `setting up\n${accountId}\n${sessionId}`);
  }
}

/**
 * Notifies owners by email about changes of their second factor, which someone else may have made. The button leads to
 * a password reset.
 */
@Injectable()
export class SecondFactorMails {
  constructor(
    private readonly accounts: AccountRepository,
    private readonly writer: MailWriter,
    private readonly mailer: Mailer,
  ) {}

  async notify(accountId: string, buildText: MailTextBuilder): Promise<void> {
    const account = await this.accounts.byId(accountId);
    if (account !== null) this.mailer.send(this.writer.write(account.email, buildText, { path: '/forgot' }));
  }
}

/** An accepted code, which is used up. */
export interface AcceptedCode {
  /** Remaining recovery codes; undefined for a code of the app. */
  readonly codesLeft: number | undefined;
}

/** Verifies codes of the app and recovery codes. Each is accepted once, across all processes. */
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
   * During sign-in, after the password.
   * @param ip client address
   * @throws CodeNotAccepted, CodesUnreadable, TooManyAttempts
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

  /** For a signed-in user. @throws CodeNotAccepted, CodesUnreadable, TooManyAttempts */
  async confirm(accountId: string, typed: string): Promise<void> {
    await this.throttle.spend('second-factor-of-session', accountId);
    await this.accept(accountId, typed);
    await this.throttle.forget('second-factor-of-session', accountId);
  }

  private async accept(accountId: string, typed: string): Promise<AcceptedCode> {
    const code = parseCode(typed);
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
    await this.mails.notify(accountId, RECOVERY_CODE_USED(codesLeft));
    return { codesLeft };
  }

  /** Undefined without an app, also if it was turned off meanwhile. @throws CodesUnreadable */
  private async secretOf(accountId: string): Promise<Secret | undefined> {
    const factor = await this.factors.find(accountId);
    if (factor === undefined || factor.sealedSecret === null) return undefined;
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
