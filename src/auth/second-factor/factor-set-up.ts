import { Injectable } from '@nestjs/common';
import { encode } from 'uqr';
import { Settings } from '../../platform/settings/index.js';
import { Clock, Secret } from '../../platform/shared/index.js';
import {
  APP_TURNED_OFF,
  RECOVERY_CODES_REPLACED,
  SECOND_FACTOR_OFF,
  SECOND_FACTOR_ON,
  SECOND_FACTOR_REMOVED,
} from '../mails/mail-text.js';
import { SignIn } from '../sign-in/sign-in.service.js';
import { asFieldError } from '../throttle/throttle.js';
import { parseCode } from '../verification/verification.js';
import { SecurityLog, type Visitor } from '../visit.js';
import { FactorSecrets, SecondFactorCheck, SecondFactorMails } from './second-factor-check.js';
import { SecondFactors } from './second-factors.service.js';
import { CodeNotAccepted, newTotpSecret, totpAddress, totpStep } from './totp.js';

/** Page data for setting up an authenticator app. */
export interface SecretView {
  /** For the form that turns it on; valid in this session only. */
  readonly sealed: string;
  /** In groups of four, for typing. */
  readonly text: string;
  /** `otpauth://…`, which opens an app on the same device. */
  readonly address: string;
  readonly qr: QrCode;
}

/** Sets up a second factor, from showing the secret to the first code. */
@Injectable()
export class FactorSetUp {
  constructor(
    private readonly factors: SecondFactors,
    private readonly secrets: FactorSecrets,
    private readonly mails: SecondFactorMails,
    private readonly settings: Settings,
    private readonly clock: Clock,
  ) {}

  /** Creates a secret, sealed for the page. Nothing is stored before the first code. */
  begin(visitor: Visitor): string {
    return this.secrets.sealForSetUp(newTotpSecret(), visitor);
  }

  /** @throws UnreadableSecret when it belongs to another session */
  shown(visitor: Visitor, sealed: string): SecretView {
    const secret = this.secrets.openForSetUp(sealed, visitor);
    const address = totpAddress(secret, this.settings.current().site.name, visitor.email);
    const text = secret.reveal().replaceAll(/(.{4})(?=.)/g, '$1 ');
    return { sealed, text, address, qr: qrCode(address) };
  }

  /**
   * Turns it on after a first code proves that the app has the secret.
   * @returns recovery codes
   * @throws UnreadableSecret, CodeNotAccepted, SecondFactorIsOn
   */
  async finish(visitor: Visitor, sealed: string, typed: string): Promise<readonly string[]> {
    const { accountId, sessionId } = visitor;
    const secret = this.secrets.openForSetUp(sealed, visitor);
    const code = parseCode(typed);
    const step = code === undefined ? undefined : totpStep(secret, code, this.clock.now());
    if (step === undefined) throw new CodeNotAccepted();
    const sealedSecret = this.secrets.sealForAccount(secret, accountId);
    const codes = await this.factors.turnOn(accountId, { sealedSecret, step }, sessionId);
    await this.mails.notify(accountId, SECOND_FACTOR_ON);
    return codes;
  }
}

/** A QR code as an SVG path of unit squares, in a square of `size` units including its white border. */
export interface QrCode {
  readonly size: number;
  readonly path: string;
}

/** Quiet zone in modules (ISO/IEC 18004). */
const BORDER = 4;

export function qrCode(text: string): QrCode {
  const { size, data } = encode(text, { ecc: 'M', border: BORDER });
  return { size, path: data.map(rowPath).join('') };
}

/** The dark modules of a row; each run is a rectangle. */
function rowPath(row: readonly boolean[], y: number): string {
  const line = row.map((dark) => (dark ? '1' : '0')).join('');
  return [...line.matchAll(/1+/g)]
    .map(({ 0: run, index }) => `M${index} ${y}h${run.length}v1h-${run.length}z`)
    .join('');
}

/** All factors of the sign-in, required for weakening it and for closing the account. */
interface SignInFactors {
  readonly currentPassword: string;
  /** Ignored if two-factor authentication is off. */
  readonly code: string;
}

/** Managing one's second factor. Requires the password and a code, however recent the sign-in is. */
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
  async turnOff(visitor: Visitor, given: SignInFactors): Promise<void> {
    const { accountId, sessionId } = visitor;
    await this.confirm(visitor, given);
    await this.factors.turnOffApp(accountId, sessionId);
    const isOn = (await this.factors.of(accountId)) !== undefined;
    await this.mails.notify(accountId, isOn ? APP_TURNED_OFF : SECOND_FACTOR_OFF);
  }

  /** @returns new recovery codes, which replace all others @throws as `turnOff` */
  async renewCodes(visitor: Visitor, given: SignInFactors): Promise<readonly string[]> {
    const { accountId, sessionId } = visitor;
    await this.confirm(visitor, given);
    const codes = await this.factors.renewCodes(accountId, sessionId);
    await this.mails.notify(accountId, RECOVERY_CODES_REPLACED);
    return codes;
  }

  /**
   * Confirms the password, and a code if two-factor authentication is on. The password first, because a correct code is
   * used up.
   * @throws WrongPassword, CodeNotAccepted, CodesUnreadable, and AppError with the parameter that was tried too often
   */
  async confirm(visitor: Visitor, { currentPassword, code }: SignInFactors): Promise<void> {
    await this.signIn.confirm(visitor, new Secret(currentPassword)).catch(asFieldError('currentPassword'));
    if ((await this.factors.of(visitor.accountId)) === undefined) return;
    await this.check.confirm(visitor.accountId, code).catch((error: unknown) => {
      if (error instanceof CodeNotAccepted) this.log.notConfirmed('code', visitor);
      return asFieldError('code')(error);
    });
  }
}

/** Removal by an administrator, for users who lost app, passkeys and recovery codes. */
@Injectable()
export class SecondFactorRemoval {
  constructor(
    private readonly factors: SecondFactors,
    private readonly mails: SecondFactorMails,
  ) {}

  /** Audited; the owner is notified by email. @throws AccountGone, SecondFactorIsOff */
  async remove(accountId: string): Promise<void> {
    await this.factors.removeAll(accountId);
    await this.mails.notify(accountId, SECOND_FACTOR_REMOVED);
  }
}
