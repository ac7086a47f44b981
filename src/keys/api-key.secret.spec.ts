import { createHash } from 'node:crypto';
import { generateSecret, hashSecret, hintOf, isImportable } from './credentials.js';

describe('generateSecret', () => {
  const secrets = Array.from({ length: 2000 }, generateSecret);

  it('returns sk- and 48 letters and digits', () => {
    for (const secret of secrets) expect(secret).toMatch(/^sk-[0-9A-Za-z]{48}$/);
  });

  it('returns only importable secrets', () => {
    for (const secret of secrets) expect(isImportable(secret)).toBe(true);
  });

  it('never repeats a secret', () => {
    expect(new Set(secrets).size).toBe(secrets.length);
  });

  it('draws all 62 characters equally often', () => {
    const counts = new Map<string, number>();
    for (const character of secrets.map((secret) => secret.slice(3)).join(''))
      counts.set(character, (counts.get(character) ?? 0) + 1);
    expect(counts.size).toBe(62);
    // 96,000 draws: about 1548 each, with a deviation of 39. A byte modulo 62 would make the first eight 1875 each.
    for (const count of counts.values()) expect(Math.abs(count - (secrets.length * 48) / 62)).toBeLessThan(6 * 39);
  });
});

describe('stored parts of a secret', () => {
  const secret = `sk-abc${'0'.repeat(41)}wxyz`;

  it('include its SHA-256', () => {
    expect(hashSecret(secret)).toEqual(createHash('sha256').update(secret).digest());
  });

  it('include a hint of its first 6 and last 4 characters', () => {
    expect(hintOf(secret)).toBe('sk-abc…wxyz');
  });
});

describe('isImportable', () => {
  it.each([`sk-${'x'.repeat(29)}`, `sk-ant-api03-${'_-'.repeat(40)}`, `sk-${'!~'.repeat(20)}`])(
    'accepts %s',
    (secret) => {
      expect(isImportable(secret)).toBe(true);
    },
  );

  it.each([
    ['one of 31 characters', `sk-${'x'.repeat(28)}`],
    ['one that is too long', `sk-${'x'.repeat(510)}`],
    ['one with another prefix', `pk-${'x'.repeat(40)}`],
    ['one with a blank', `sk-${'x'.repeat(20)} ${'x'.repeat(20)}`],
    ['one with a line break', `sk-${'x'.repeat(40)}\n`],
    ['one that is not ASCII', `sk-${'ü'.repeat(40)}`],
    ['nothing', ''],
  ])('refuses %s', (_what, secret) => {
    expect(isImportable(secret)).toBe(false);
  });
});
