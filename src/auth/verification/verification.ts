import { createHmac, hash, randomBytes, randomInt } from 'node:crypto';
import { AppError } from '../../platform/shared/index.js';

/**
 * The verified address: that of a new account (`register`), an account's own address (`confirm`), its future one
 * (`change`); or that the reader of its mail requested a new password (`reset`) or was invited (`invite`).
 */
export type AddressPurpose = 'register' | 'confirm' | 'change' | 'reset' | 'invite';

/** Also that the reader was invited to an organization (`join`). The subject is the invitation. */
export type Purpose = AddressPurpose | 'join';

const MINUTE_MS = 60_000;
/** For emails and pages. */
export const LIFETIME_MINUTES = 15;
export const INVITATION_DAYS = 7;
const LIFETIME_MS: Readonly<Record<Purpose, number>> = {
  register: LIFETIME_MINUTES * MINUTE_MS,
  confirm: LIFETIME_MINUTES * MINUTE_MS,
  change: LIFETIME_MINUTES * MINUTE_MS,
  reset: LIFETIME_MINUTES * MINUTE_MS,
  // Recipients do not expect an invitation.
  invite: INVITATION_DAYS * 24 * 60 * MINUTE_MS,
  join: INVITATION_DAYS * 24 * 60 * MINUTE_MS,
};
/** Codes are typed where they were requested; passwords are set where the link leads. */
const WITH_CODE: readonly Purpose[] = ['register', 'confirm', 'change'];

export const MAX_ATTEMPTS = 5;
export const RESEND_AFTER_MS = MINUTE_MS;

/** Only part of the email, never stored. */
export interface VerificationSecret {
  /** Six digits; undefined for links only. */
  readonly code: string | undefined;
  /** 43 URL-safe characters. */
  readonly token: string;
}

/** A requested verification, as pages show it. */
export interface Verification {
  readonly id: string;
  readonly purpose: Purpose;
  /** ID of the account or the registration. */
  readonly subject: string;
  readonly email: string;
  readonly sentAt: Date;
  readonly expiresAt: Date;
  readonly usedAt: Date | null;
}

export const lifetimeMs = (purpose: Purpose): number => LIFETIME_MS[purpose];

export const newVerificationSecret = (purpose: Purpose): VerificationSecret => ({
  code: WITH_CODE.includes(purpose) ? String(randomInt(1_000_000)).padStart(6, '0') : undefined,
  token: randomBytes(32).toString('base64url'),
});

/** Removes spaces and dashes. Undefined if it is not six digits. */
export function parseCode(text: string): string | undefined {
  const digits = text.slice(0, 100).replaceAll(/[\s\p{Pd}]/gu, '');
  return /^\d{6}$/.test(digits) ? digits : undefined;
}

/** Undefined if the text cannot be a token. */
export const hashToken = (token: string): Buffer | undefined =>
  /^[\w-]{43}$/.test(token) ? hash('sha256', token, 'buffer') : undefined;

/** Keyed and bound to one verification: a million codes could be tried against a plain hash. */
export const hashCode = (code: string, verificationId: string, key: Buffer): Buffer =>
  createHmac('sha256', key).update(`${verificationId}\n${code}`).digest();

/** A wrong or expired code; the message says what to do and names the field. */
export class CodeRefused extends AppError {
  static malformed(): CodeRefused {
    return new CodeRefused('Enter the six-digit code from the email.');
  }

  static wrong(): CodeRefused {
    return new CodeRefused('Wrong code. Enter the six-digit code from the latest email.');
  }

  static expired(): CodeRefused {
    return new CodeRefused('This code is no longer valid. Request a new one.');
  }

  static tooOften(): CodeRefused {
    return new CodeRefused('Too many wrong codes. Request a new one.');
  }

  constructor(message: string) {
    super('invalid_request', message, { param: 'code' });
  }
}

/** An expired, used or unknown link. */
export class LinkRefused extends AppError {
  constructor() {
    super(
      'invalid_request',
      'This link expired, was already used, or was replaced by a later email. Request a new one.',
    );
  }
}

/** Requested again too soon. */
export class ResendTooSoon extends AppError {
  constructor(seconds: number) {
    super('rate_limit_exceeded', `An email was just sent. You can request another one in ${seconds} seconds.`, {
      retryAfterSeconds: seconds,
    });
  }
}
