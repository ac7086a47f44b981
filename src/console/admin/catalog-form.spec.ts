import { Numeral } from '../../catalog/channels/index.js';
import {
  decimalIn,
  differencesOf,
  errorSentence,
  linesOf,
  optionalDecimal,
  pairsIn,
  refuseBy,
  catalogForm,
  wholeIn,
} from './catalog-form.js';

describe('decimalIn and wholeIn', () => {
  it.each([
    ['1,000.50', '1000.50'],
    ['$3.', '3'],
    ['$ 0.25', '0.25'],
    ['.5', '0.5'],
    ['1,234,567', '1234567'],
    // Not thousands separators: unchanged, so that the catalog file's checks reject it.
    ['3,00', '3,00'],
    ['1,0000', '1,0000'],
    ['-1', '-1'],
    ['many', 'many'],
  ])('normalizes %s to %s', (typed, written) => {
    expect(decimalIn(typed)).toBe(written);
  });

  it('returns undefined for an empty field', () => {
    expect([optionalDecimal(' '), wholeIn('')]).toEqual([undefined, undefined]);
  });

  it('returns a numeral for a whole number and the typed text otherwise', () => {
    expect([wholeIn('400,000'), wholeIn('1.5')]).toEqual([new Numeral('400000'), '1.5']);
  });
});

describe('pairsIn', () => {
  it('accepts any separator and blank lines', () => {
    expect(pairsIn('a 2\r\n\n  b: 0.5\nc = 1,000\nvendor/d × .5')).toEqual({
      a: '2',
      b: '0.5',
      c: '1000',
      'vendor/d': '0.5',
    });
  });

  it('round-trips with linesOf, and yields an empty value for a name alone', () => {
    expect(pairsIn(linesOf({ a: '2', b: '0.5' }))).toEqual({ a: '2', b: '0.5' });
    expect(pairsIn('alone')).toEqual({ alone: '' });
  });
});

describe('refuseBy and differencesOf', () => {
  it('adds each error to its field with the field’s label', () => {
    const form = catalogForm({ name: 'x', _csrf: 'token' });
    const faults = [
      { path: 'groups[0].name', message: 'is missing' },
      { path: 'groups[0].multiplier', message: 'must be a plain decimal' },
    ];
    refuseBy(form, faults, ({ path }) => path.replace('groups[0].', ''), { name: 'Name', multiplier: 'Multiplier' });
    expect([form.values, form.errors]).toEqual([
      { name: 'x' },
      { name: 'Name is missing.', multiplier: 'Multiplier must be a plain decimal.' },
    ]);
  });

  it('reports different values, but not different notations of the same value', () => {
    const now = { price: '1000', groups: ['b', 'a'], owner: '' };
    const typed = { price: '1,000', groups: ['a', 'b'], owner: 'acme' };
    const labels = { price: 'Price', groups: 'Groups', owner: 'Provider' };
    expect(differencesOf(now, typed, labels)).toEqual([{ label: 'Provider', now: '–', yours: 'acme' }]);
  });
});

describe('faultSentence', () => {
  it.each([
    ['is missing', 'Input is missing.'],
    [
      'refers to the model "small", which is neither in this file nor stored',
      /^The model “small” does not exist. Add it under Models & prices first/,
    ],
    [
      'refers to the group "saver", which is neither in this file nor stored',
      /^The group “saver” does not exist. Add it under Groups first/,
    ],
    ['is missing: add at least one, or set `auth: none`', 'Enter a credential, or choose “No credential”.'],
    ['needs at least one model to check', 'Add a model before running the check.'],
    [
      'must be a list of secrets, env:NAME or "***"; entry 2 is not',
      'Credential 2 is not valid. Enter a secret, env:NAME or a JSON key file.',
    ],
    [
      'must be true, false, an integer, a string or a list of strings per name; efforts is not',
      '“efforts” has a value this flag cannot take.',
    ],
  ])('turns “%s” into a field error', (message, sentence) => {
    expect(errorSentence('Input', message)).toEqual(
      typeof sentence === 'string' ? sentence : expect.stringMatching(sentence),
    );
  });
});
