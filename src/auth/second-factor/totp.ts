import { createRequire } from 'node:module';
import { AppError, generateCode, hashCode, Secret } from '../../platform/shared/index.js';

const load = createRequire(import.meta.url);
/** Loaded on first use: its cryptography would be a thirtieth of a start. */
const otplib = (): typeof import('otplib') => load('otplib') as typeof import('otplib');

/** Lifetime of a code in seconds; the only value that all apps support. */
const STEP_SECONDS = 30;

/** 160 random bits in base32. */
export const newTotpSecret = (): Secret => new Secret(otplib().generateSecret());

/**
 * The time step of a code (RFC 6238, SHA-1, six digits): the current, the previous or the next one, for inexact clocks
 * and slow users. Undefined: wrong code.
 * @param code six digits
 */
export function totpStep(secret: Secret, code: string, nowMs: number): number | undefined {
  const result = otplib().verifySync({
    secret: secret.reveal(),
    token: code,
    epoch: Math.floor(nowMs / 1000),
    period: STEP_SECONDS,
    epochTolerance: STEP_SECONDS,
  });
  return result.valid && 'timeStep' in result ? result.timeStep : undefined;
}

/** The URI for the QR code. */
export const totpAddress = (secret: Secret, product: string, email: string): string =>
  otplib().generateURI({ issuer: product, label: email, secret: secret.reveal() });

/** Number of codes in a set. */
const AT_FIRST = 10;
/** Characters without separators: 120 random bits, so that a fast hash suffices. */
const LENGTH = 24;

/** A new set of codes, in six groups of four: `0A1B-2C3D-…`. */
export const newRecoveryCodes = (): readonly string[] => Array.from({ length: AT_FIRST }, () => generateCode(LENGTH));

/** The stored hash of a code in any spelling; undefined if the text cannot be one. */
export const recoveryCodeHash = (typed: string): Buffer | undefined => hashCode(typed, LENGTH);

/** Wrong, expired or used; which of them is not revealed. */
export class CodeNotAccepted extends AppError {
  constructor() {
    super('invalid_request', 'Invalid code. Enter the current code from your app; each code works once.', {
      param: 'code',
    });
  }
}

/** The secret cannot be decrypted: SECRET_KEY was changed. */
export class CodesUnreadable extends AppError {
  constructor() {
    super(
      'invalid_request',
      'App codes cannot be verified. Enter a recovery code, or ask an administrator to turn off two-factor authentication.',
      { param: 'code' },
    );
  }
}

/** Already on, for example through another window. */
export class SecondFactorIsOn extends AppError {
  constructor() {
    super('conflict', 'Two-factor authentication is already on.');
  }
}

/** Already off, for example through another window. */
export class SecondFactorIsOff extends AppError {
  constructor() {
    super('conflict', 'Two-factor authentication is off for this account.');
  }
}
