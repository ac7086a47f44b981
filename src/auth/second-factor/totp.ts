import { generateSecret, generateURI, verifySync } from 'otplib';
import { generateCode, hashCode, Secret } from '../../platform/shared/index.js';

/** How long a code is shown, in seconds: apps take it for granted, and some know no other. */
const STEP_SECONDS = 30;

/** 160 random bits in base32, as apps take it. */
export const newTotpSecret = (): Secret => new Secret(generateSecret());

/**
 * The time step that a code belongs to (RFC 6238, SHA-1, six digits): the one that runs, the one before, or the next, for
 * clocks that go wrong and people who are slow. Undefined: it is the code of none of them.
 * @param code six digits
 */
export function totpStep(secret: Secret, code: string, nowMs: number): number | undefined {
  const result = verifySync({
    secret: secret.reveal(),
    token: code,
    epoch: Math.floor(nowMs / 1000),
    period: STEP_SECONDS,
    epochTolerance: STEP_SECONDS,
  });
  return result.valid && 'timeStep' in result ? result.timeStep : undefined;
}

/** What an app reads from a QR code: whose codes they are, and what they are made from. */
export const totpAddress = (secret: Secret, product: string, email: string): string =>
  generateURI({ issuer: product, label: email, secret: secret.reveal() });

/** How many there are at first. */
const AT_FIRST = 10;
/** Characters of a code, without what stands between: 120 random bits, so that a plain hash of it will do. */
const LENGTH = 24;

/** Another set, as people store it: `0A1B-2C3D-…`, six groups of four. */
export const newRecoveryCodes = (): readonly string[] => Array.from({ length: AT_FIRST }, () => generateCode(LENGTH));

/** What is stored of a code, however it was typed; undefined when the text cannot be one. */
export const recoveryCodeHash = (typed: string): Buffer | undefined => hashCode(typed, LENGTH);
