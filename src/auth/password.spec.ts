import { verify } from '@node-rs/argon2';
import { Secret } from '../platform/shared/index.js';
import { generatePassword, hashPassword, isAcceptablePassword } from './passwords.js';

describe('passwords', () => {
  it('may have 12 to 128 characters, counted as graphemes', () => {
    const lengths = [11, 12, 128, 129];
    expect(lengths.map((length) => isAcceptablePassword(new Secret('x'.repeat(length))))).toEqual([
      false,
      true,
      true,
      false,
    ]);
    expect(isAcceptablePassword(new Secret('😀'.repeat(128)))).toBe(true);
    expect(isAcceptablePassword(new Secret('😀'.repeat(11)))).toBe(false);
  });

  it('are stored as Argon2id with 19 MiB and two passes', async () => {
    const hash = await hashPassword(new Secret('correct horse battery'));
    expect(hash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
    await expect(verify(hash, 'correct horse battery')).resolves.toBe(true);
    await expect(verify(hash, 'correct horse batterz')).resolves.toBe(false);
  });

  it('are random and valid when generated', () => {
    const passwords = Array.from({ length: 100 }, generatePassword);
    expect(passwords.every(isAcceptablePassword)).toBe(true);
    expect(new Set(passwords.map((password) => password.reveal())).size).toBe(100);
  });
});
