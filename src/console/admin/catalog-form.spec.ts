import { Numeral } from '../../catalog/channels/index.js';
import {
  decimalIn,
  differencesOf,
  linesOf,
  optionalDecimal,
  pairsIn,
  refuseBy,
  typedForm,
  wholeIn,
} from './catalog-form.js';

describe('a number as people type it', () => {
  it.each([
    ['1,000.50', '1000.50'],
    ['$3.', '3'],
    ['$ 0.25', '0.25'],
    ['.5', '0.5'],
    ['1,234,567', '1234567'],
    // Not thousands: left as it is, for the catalog file's own checks to refuse.
    ['3,00', '3,00'],
    ['1,0000', '1,0000'],
    ['-1', '-1'],
    ['many', 'many'],
  ])('%s is %s', (typed, written) => {
    expect(decimalIn(typed)).toBe(written);
  });

  it('is nothing where the field is empty', () => {
    expect([optionalDecimal(' '), wholeIn('')]).toEqual([undefined, undefined]);
  });

  it('is a number of the catalog file where it is whole, and what was typed where it is not', () => {
    expect([wholeIn('400,000'), wholeIn('1.5')]).toEqual([new Numeral('400000'), '1.5']);
  });
});

describe('names with numbers, one on each line', () => {
  it('may have any sign between them, and blank lines', () => {
    expect(pairsIn('a 2\r\n\n  b: 0.5\nc = 1,000\nvendor/d × .5')).toEqual({
      a: '2',
      b: '0.5',
      c: '1000',
      'vendor/d': '0.5',
    });
  });

  it('come back as they were, and without a number are refused', () => {
    expect(pairsIn(linesOf({ a: '2', b: '0.5' }))).toEqual({ a: '2', b: '0.5' });
    expect(pairsIn('alone')).toEqual({ alone: '' });
  });
});

describe('a form of the catalog', () => {
  it('says of each fault what is wrong with which field, beside it', () => {
    const form = typedForm({ name: 'x', _csrf: 'token' });
    const faults = [
      { path: 'groups[0].name', message: 'is missing' },
      { path: 'groups[0].multiplier', message: 'must be a plain decimal' },
    ];
    refuseBy(form, faults, ({ path }) => path.replace('groups[0].', ''), { name: 'Name', multiplier: 'Multiplier' });
    expect([form.values, form.faults]).toEqual([
      { name: 'x' },
      { name: 'Name is missing.', multiplier: 'Multiplier must be a plain decimal.' },
    ]);
  });

  it('tells what is stored otherwise than typed, and not what is only written otherwise', () => {
    const now = { price: '1000', groups: ['b', 'a'], owner: '' };
    const typed = { price: '1,000', groups: ['a', 'b'], owner: 'acme' };
    const labels = { price: 'Price', groups: 'Groups', owner: 'Provider' };
    expect(differencesOf(now, typed, labels)).toEqual([{ label: 'Provider', now: '–', yours: 'acme' }]);
  });
});
