import {
  describeChanges,
  difference,
  lineOf,
  listed,
  revisionOf,
  sortedPairs,
  type Facts,
  type ChangedItem,
} from './changes.js';

const MAIN: ChangedItem = { kind: 'channel', name: 'main' };
const SAVER: ChangedItem = { kind: 'group', name: 'saver' };

const linesOf = (subject: ChangedItem, before: Facts, after: Facts): string[] =>
  describeChanges(subject, before, after).map(lineOf);

describe('describeChanges', () => {
  it('lists each changed field with old and new value', () => {
    const before = { tier: '1', weight: '100', protocol: 'messages' };
    expect(linesOf(MAIN, before, { ...before, tier: '2', weight: '50' })).toEqual([
      'channel main: tier 1 → 2',
      'channel main: weight 100 → 50',
    ]);
  });

  it('returns nothing when no field changed', () => {
    expect(linesOf(SAVER, { multiplier: '0.8' }, { multiplier: '0.8' })).toEqual([]);
  });

  it('shows an empty field as none', () => {
    expect(linesOf(SAVER, { description: '' }, { description: 'cheap' })).toEqual([
      'group saver: description (none) → cheap',
    ]);
  });

  it('reports a changed hidden field without its values', () => {
    const lines = linesOf(MAIN, { headers: { hidden: 'x 1' } }, { headers: { hidden: 'x 2' } });
    expect(lines).toEqual(['channel main: headers changed']);
  });
});

describe('difference', () => {
  it('lists the facts of a new object, without empty and hidden ones', () => {
    const facts = { tier: '1', description: '', headers: { hidden: 'x-team relay' } };
    expect(difference(MAIN, undefined, undefined, facts)).toEqual([
      { subject: MAIN, text: 'added', details: ['tier 1'] },
    ]);
  });
});

describe('listed and sortedPairs', () => {
  it('do not depend on the order or the repetition of names', () => {
    expect(listed(['b', 'a', 'b'])).toBe(listed(['a', 'b']));
    expect(sortedPairs({ b: 1, a: true })).toBe(sortedPairs({ a: true, b: 1 }));
  });
});

describe('revisionOf', () => {
  const facts: Facts = { tier: '1', credentials: { hidden: 'sealed' } };

  it('does not depend on the order of the facts', () => {
    expect(revisionOf({ credentials: { hidden: 'sealed' }, tier: '1' })).toBe(revisionOf(facts));
  });

  it.each<Facts>([
    { ...facts, tier: '2' },
    { ...facts, credentials: { hidden: 'another' } },
    { ...facts, weight: '1' },
    { tier: '1' },
  ])('differs for %j', (other) => {
    expect(revisionOf(other)).not.toBe(revisionOf(facts));
  });
});
