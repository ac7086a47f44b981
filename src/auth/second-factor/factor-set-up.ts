import { Injectable } from '@nestjs/common';
import { encode } from 'uqr';
import { Settings } from '../../platform/settings/index.js';
import { Clock } from '../../platform/shared/index.js';
import { SECOND_FACTOR_ON } from '../mails/mail-text.js';
import { typedCode } from '../verification/verification.js';
import type { Visitor } from '../visit.js';
import { FactorSecrets, SecondFactorMails } from './second-factor-check.js';
import { CodeNotAccepted } from './second-factor.errors.js';
import { SecondFactors } from './second-factors.service.js';
import { newTotpSecret, totpAddress, totpStep } from './totp.js';

/** What a page shows for an app to be told what to make codes from. */
export interface SecretView {
  /** For the form that turns it on; opens in this session alone. */
  readonly sealed: string;
  /** In groups of four, for whoever types it. */
  readonly text: string;
  /** `otpauth://…`, which opens the app where the page is on the same device. */
  readonly address: string;
  readonly qr: QrCode;
}

/** Turning a second factor on, from the secret that an app is shown to the first code that it makes. */
@Injectable()
export class FactorSetUp {
  constructor(
    private readonly factors: SecondFactors,
    private readonly secrets: FactorSecrets,
    private readonly mails: SecondFactorMails,
    private readonly settings: Settings,
    private readonly clock: Clock,
  ) {}

  /** Another secret, sealed for the page that shows it. Nothing is stored before its first code. */
  begin(visitor: Visitor): string {
    return this.secrets.sealForSetUp(newTotpSecret(), visitor);
  }

  /** @throws UnreadableSecret when another session began */
  shown(visitor: Visitor, sealed: string): SecretView {
    const secret = this.secrets.openForSetUp(sealed, visitor);
    const address = totpAddress(secret, this.settings.current().site.name, visitor.email);
    const text = secret.reveal().replaceAll(/(.{4})(?=.)/g, '$1 ');
    return { sealed, text, address, qr: qrCode(address) };
  }

  /**
   * Turns it on for whoever shows, by a first code, that their app makes codes of the secret.
   * @returns the recovery codes
   * @throws UnreadableSecret, CodeNotAccepted, SecondFactorIsOn
   */
  async finish(visitor: Visitor, sealed: string, typed: string): Promise<readonly string[]> {
    const { accountId, sessionId } = visitor;
    const secret = this.secrets.openForSetUp(sealed, visitor);
    const code = typedCode(typed);
    const step = code === undefined ? undefined : totpStep(secret, code, this.clock.now());
    if (step === undefined) throw new CodeNotAccepted();
    const sealedSecret = this.secrets.sealForAccount(secret, accountId);
    const codes = await this.factors.turnOn(accountId, { sealedSecret, step }, sessionId);
    await this.mails.tell(accountId, SECOND_FACTOR_ON);
    return codes;
  }
}

/** A QR code as an image: a path of squares of one unit, in a square of `size` units that begins with its white border. */
export interface QrCode {
  readonly size: number;
  readonly path: string;
}

/** White around it, in modules, as readers want it (ISO/IEC 18004). */
const BORDER = 4;

export function qrCode(text: string): QrCode {
  const { size, data } = encode(text, { ecc: 'M', border: BORDER });
  return { size, path: data.map(rowPath).join('') };
}

/** The dark modules of a row, each run of them one rectangle. */
function rowPath(row: readonly boolean[], y: number): string {
  const line = row.map((dark) => (dark ? '1' : '0')).join('');
  return [...line.matchAll(/1+/g)]
    .map(({ 0: run, index }) => `M${index} ${y}h${run.length}v1h-${run.length}z`)
    .join('');
}
