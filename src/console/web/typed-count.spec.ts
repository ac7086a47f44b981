import { validateSync } from 'class-validator';
import { countOf, IsCount, typedCount } from './form.js';

class Sized {
  @IsCount({ message: 'Enter 1 to 1,000.', least: 1, most: 1000 })
  size: unknown = '';
}

const isFine = (size: unknown): boolean => validateSync(Object.assign(new Sized(), { size })).length === 0;

describe('typedCount', () => {
  it.each([
    ['60', 60],
    [' 7 ', 7],
    ['100,000', 100_000],
    ['1,000,000', 1_000_000],
    ['0', 0],
  ])('takes %j for %d', (text, count) => {
    expect(typedCount(text)).toBe(count);
  });

  it.each(['', 'many', '1.5', '-1', '1,00', '1e3', '1 000', '9'.repeat(16)])('takes %j for none', (text) => {
    expect(typedCount(text)).toBeUndefined();
  });

  it('of a field that is left empty is none', () => {
    expect([countOf(' '), countOf('1,000')]).toEqual([undefined, 1000]);
    expect(() => countOf('many')).toThrow(RangeError);
  });

  it('is asked for within bounds, or not at all', () => {
    expect(['', ' ', '1', '1,000'].map(isFine)).toEqual([true, true, true, true]);
    expect(['0', '1,001', 'x', ['1'], 1, undefined].map(isFine)).toEqual(Array(6).fill(false));
  });
});
