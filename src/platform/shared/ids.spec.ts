import { generateCode, hashCode, idTime, newId } from './ids.js';

describe('ids', () => {
  it('contain their creation time', () => {
    const id = newId('req', 1_795_000_000_123);
    expect(id).toMatch(/^req_[0-9a-f]{32}$/);
    expect(idTime(id)).toBe(1_795_000_000_123);
  });

  it('sort by creation time, and are unique', () => {
    const ids = [1, 2, 3].map((ms) => newId('req', 1_795_000_000_000 + ms));
    expect(ids.toSorted()).toEqual(ids);
    expect(new Set(Array.from({ length: 1000 }, () => newId('key', 5))).size).toBe(1000);
  });

  it('of other systems have no time', () => {
    expect(idTime('req_123')).toBeUndefined();
    expect(idTime('chatcmpl-971bf36cf9214a60b8d4030e16b7fe12')).toBeUndefined();
  });
});

const CODE = '0123-4567-89AB-CDEF-GHJK-MNPQ-RSTV';

describe('readable codes', () => {
  it('consist of groups of four unambiguous characters, different each time', () => {
    const codes = Array.from({ length: 1000 }, () => generateCode(28));
    for (const code of codes) expect(code).toMatch(/^[0-9A-HJKMNP-TV-Z]{4}(?:-[0-9A-HJKMNP-TV-Z]{4}){6}$/);
    expect(new Set(codes).size).toBe(1000);
    // All 32 characters come, each about as often: 28,000 draws, 875 of each, 29 the standard deviation.
    const counts = new Map<string, number>();
    for (const character of codes.join('').replaceAll('-', '')) counts.set(character, (counts.get(character) ?? 0) + 1);
    expect(counts.size).toBe(32);
    for (const count of counts.values()) expect(Math.abs(count - 875)).toBeLessThan(7 * 29);
  });

  it.each([
    CODE.toLowerCase(),
    CODE.replaceAll('-', ''),
    CODE.replaceAll('-', ' '),
    CODE.replaceAll('-', '–'),
    ` ${CODE.split('').join(' ')}\t\n`,
    CODE.replaceAll('0', 'O').replaceAll('1', 'I'),
    CODE.replaceAll('0', 'o').replaceAll('1', 'l'),
    CODE.replaceAll('1', 'L'),
  ])('are accepted when typed as %j', (typed) => {
    expect(hashCode(typed, 28)).toEqual(hashCode(CODE, 28));
  });

  it('have the length of their kind', () => {
    expect(generateCode(20)).toMatch(/^[0-9A-Z]{4}(?:-[0-9A-Z]{4}){4}$/);
    expect(hashCode(generateCode(20), 20)).toHaveLength(32);
    expect(hashCode(generateCode(20), 28)).toBeUndefined();
  });

  it('are not confused with one another', () => {
    expect(hashCode(CODE.replace('V', 'W'), 28)).not.toEqual(hashCode(CODE, 28));
  });

  it.each(['', '-', CODE.slice(1), `${CODE}0`, CODE.replace('A', 'U'), CODE.replace('A', '!'), 'Ω'.repeat(28)])(
    'cannot be %j',
    (typed) => {
      expect(hashCode(typed, 28)).toBeUndefined();
    },
  );

  it('are not searched for in oversized input', () => {
    expect(hashCode(CODE + ' '.repeat(1_000_000), 28)).toBeUndefined();
  });
});
