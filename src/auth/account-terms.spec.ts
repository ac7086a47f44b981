import { termDifferences, termsRevision } from './account.js';

const TERMS = { groupName: 'saver', limits: { requestsPerMinute: 60, concurrency: 4 } };

describe('the terms of an account', () => {
  it.each([
    ['group', { ...TERMS, groupName: 'fast' }],
    ['group, default now', { ...TERMS, groupName: undefined }],
    ['calls a minute', { ...TERMS, limits: { ...TERMS.limits, requestsPerMinute: 61 } }],
    ['tokens a minute', { ...TERMS, limits: { ...TERMS.limits, tokensPerMinute: 60 } }],
    ['limits, none now', { ...TERMS, limits: {} }],
    ['kinds of limits', { ...TERMS, limits: { requestsPerMinute: 60, tokensPerMinute: 4 } }],
  ])('have another revision with another %s', (_, other) => {
    expect(termsRevision(other)).not.toBe(termsRevision(TERMS));
  });

  it('have the same revision as long as they are the same', () => {
    expect(termsRevision({ limits: { concurrency: 4, requestsPerMinute: 60 }, groupName: 'saver' })).toBe(
      termsRevision(TERMS),
    );
  });

  it('differ in a line for the group and one for the limits', () => {
    expect(termDifferences({ groupName: undefined, limits: {} }, TERMS)).toEqual([
      'group default → saver',
      'limits default → 60 calls a minute, 4 at a time',
    ]);
    expect(termDifferences(TERMS, { ...TERMS })).toEqual([]);
  });
});
