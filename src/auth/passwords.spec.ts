import { verify } from '@node-rs/argon2';
import { Secret } from '../platform/shared/index.js';
import { checkChoice, generatePassword, hashPassword, isAcceptablePassword } from './passwords.js';

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

const ANN = { email: 'ann.miller@example.com', name: 'Ann Miller' };
const choose = (text: string): void => checkChoice(new Secret(text), ANN);
const GUESSED = 'Choose a password that is harder to guess';

describe('checkChoice', () => {
  it.each([
    'a sentence works well here',
    'correct-horse-9-battery',
    'violet kettle umbrella',
    'Tr0ub4dor&3xkcd',
    'mqzjvwkbtrfp',
    'Пароль из кириллицы',
    '😀😁😂🤣😃😄😅😆😉😊😋😎',
    'annmillers cat sleeps all day',
    'passwords should be long sentences',
  ])('accepts %j', (text) => {
    expect(() => choose(text)).not.toThrow();
  });

  it('requires 12 to 128 characters', () => {
    expect(() => choose('k7#mQ2vX9pL')).toThrow('Use at least 12 characters. A sentence works well.');
    expect(() => choose('k7#mQ2vX9pLz')).not.toThrow();
    expect(() => choose(`${'k7#mQ2vX9pLz'.repeat(10)}12345678`)).not.toThrow();
    expect(() => choose(`${'k7#mQ2vX9pLz'.repeat(10)}123456789`)).toThrow('Use at most 128 characters.');
  });

  it.each([
    'password1234',
    'Password12345!',
    'passwordpassword',
    'P@ssw0rd2026!',
    'qwertyuiop123',
    'qwertyuiopasdfghjkl',
    '123456789012',
    '1234567890123456',
    '098765432109',
    'aaaaaaaaaaaaaaaa',
    'abababababababab',
    'abcdefghijkl',
    'iloveyou1234',
    'welcome2026!!',
    'letmeinletmein',
    'administrator1',
    'switchboard2026',
    'admin123456789',
    'correcthorsebatterystaple',
  ])('rejects the common password %j', (text) => {
    expect(() => choose(text)).toThrow(GUESSED);
  });

  it.each(['ann.miller@example.com', 'annmiller1234', 'AnnMillerExample', 'miller-miller-2026'])(
    'is not %j, which is made of who they are',
    (text) => {
      expect(() => choose(text)).toThrow(GUESSED);
    },
  );
});
