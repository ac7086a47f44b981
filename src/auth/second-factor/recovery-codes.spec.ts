import { newRecoveryCodes, recoveryCodeHash } from './totp.js';

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
