import { describeChanges, listed, sortedPairs } from './changes.js';

describe('describeChanges', () => {
  it('tells each field that differs, old and new', () => {
    const before = { tier: '1', weight: '100', protocol: 'messages' };
    expect(describeChanges('channel main', before, { ...before, tier: '2', weight: '50' })).toEqual([
      'channel main: tier 1 → 2',
      'channel main: weight 100 → 50',
    ]);
  });

  it('says nothing when all fields are the same', () => {
    expect(describeChanges('group saver', { multiplier: '0.8' }, { multiplier: '0.8' })).toEqual([]);
  });

  it('shows an empty field as none', () => {
    expect(describeChanges('group saver', { description: '' }, { description: 'cheap' })).toEqual([
      'group saver: description (none) → cheap',
    ]);
  });

  it('tells that a hidden field changed without showing either value', () => {
    const lines = describeChanges('channel main', { headers: { hidden: 'x 1' } }, { headers: { hidden: 'x 2' } });
    expect(lines).toEqual(['channel main: headers changed']);
  });
});

describe('listed and sortedPairs', () => {
  it('do not depend on the order or the repetition of names', () => {
    expect(listed(['b', 'a', 'b'])).toBe(listed(['a', 'b']));
    expect(sortedPairs({ b: 1, a: true })).toBe(sortedPairs({ a: true, b: 1 }));
  });
});
