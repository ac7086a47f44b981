import { Secret } from '../../platform/shared/index.js';
import { newRecoveryCodes, newTotpSecret, recoveryCodeHash, totpAddress, totpStep } from './totp.js';

/** The key of RFC 6238, appendix B, "12345678901234567890", in base32. */
const SECRET = new Secret('GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ');

/** RFC 6238, appendix B, SHA-1: seconds, time step, and the code, of whose eight digits apps show the last six. */
const VECTORS: readonly (readonly [number, number, string])[] = [
  [59, 0x1, '94287082'],
  [1_111_111_109, 0x23523ec, '07081804'],
  [1_111_111_111, 0x23523ed, '14050471'],
  [1_234_567_890, 0x273ef07, '89005924'],
  [2_000_000_000, 0x3f940aa, '69279037'],
  [20_000_000_000, 0x27bc86aa, '65353130'],
];

describe('TOTP codes', () => {
  it.each(VECTORS)('at %i s, step %i: %s', (seconds, step, code) => {
    expect(totpStep(SECRET, code.slice(-6), seconds * 1000)).toBe(step);
  });

  it.each([
    ['before the step before its own', -31, false],
    ['from the step before its own on', -30, true],
    ['until the end of the step after it', 59, true],
    ['after that', 60, false],
  ])('are accepted or rejected %s', (_, secondsAfterItsStepBegan, accepted) => {
    const [, step, code] = VECTORS[1]!;
    const nowMs = (step * 30 + secondsAfterItsStepBegan) * 1000;
    expect(totpStep(SECRET, code.slice(-6), nowMs)).toBe(accepted ? step : undefined);
  });

  it('do not match another secret', () => {
    expect(totpStep(newTotpSecret(), '081804', 1_111_111_109_000)).toBeUndefined();
  });
});

describe('the otpauth URI', () => {
  it('encodes the service and the account', () => {
    const url = new URL(totpAddress(SECRET, 'Ann & Bob: Relay', 'ann+x@example.com'));
    expect(url.protocol).toBe('otpauth:');
    expect(decodeURIComponent(url.href)).toContain('totp/Ann & Bob: Relay:ann+x@example.com?');
    expect(url.searchParams.get('secret')).toBe(SECRET.reveal());
    expect(url.searchParams.get('issuer')).toBe('Ann & Bob: Relay');
  });

  it('has a random secret of 160 bits', () => {
    const secrets = Array.from({ length: 20 }, () => newTotpSecret().reveal());
    for (const secret of secrets) expect(secret).toMatch(/^[A-Z2-7]{32}$/);
    expect(new Set(secrets).size).toBe(20);
  });
});

describe('recovery codes', () => {
  it('are ten different codes of six groups of four', () => {
    const codes = newRecoveryCodes();
    expect(codes).toHaveLength(10);
    for (const code of codes) expect(code).toMatch(/^(?:[0-9A-HJKMNP-TV-Z]{4}-){5}[0-9A-HJKMNP-TV-Z]{4}$/);
    expect(new Set([...codes, ...newRecoveryCodes()]).size).toBe(20);
  });

  it('are accepted in every notation', () => {
    const stored = recoveryCodeHash('0123-4567-89AB-CDEF-GHJK-MNPQ');
    expect(stored).toHaveLength(32);
    for (const typed of [' 0123 4567 89ab cdef ghjk mnpq ', 'O1234567–89ABCDEFGHJKMNPQ', '0I23456789ABCDEFGHJKMNPQ'])
      expect(recoveryCodeHash(typed)).toEqual(stored);
  });

  it.each(['', '123456', '0123-4567-89AB-CDEF-GHJK', '0123-4567-89AB-CDEF-GHJK-MNP!', '0'.repeat(25)])(
    'are not %j',
    (typed) => {
      expect(recoveryCodeHash(typed)).toBeUndefined();
    },
  );
});
