import { Secret } from '../platform/shared/index.js';
import { checkChoice } from './passwords.js';

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
