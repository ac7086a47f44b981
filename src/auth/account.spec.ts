import { termDifferences, termsRevision } from './account.js';

const TERMS = { groupName: 'saver', limits: { requestsPerMinute: 60, concurrency: 4 } };

describe('account terms', () => {
  it.each([
    ['group', { ...TERMS, groupName: 'fast' }],
    ['group, default now', { ...TERMS, groupName: undefined }],
    ['calls a minute', { ...TERMS, limits: { ...TERMS.limits, requestsPerMinute: 61 } }],
    ['tokens a minute', { ...TERMS, limits: { ...TERMS.limits, tokensPerMinute: 60 } }],
    ['limits, none now', { ...TERMS, limits: {} }],
    ['kinds of limits', { ...TERMS, limits: { requestsPerMinute: 60, tokensPerMinute: 4 } }],
  ])('change their revision with the %s', (_, other) => {
    expect(termsRevision(other)).not.toBe(termsRevision(TERMS));
  });

  it('keep their revision while unchanged', () => {
    expect(termsRevision({ limits: { concurrency: 4, requestsPerMinute: 60 }, groupName: 'saver' })).toBe(
      termsRevision(TERMS),
    );
  });

  it('are compared in one line for the group and one for the limits', () => {
    expect(termDifferences({ groupName: undefined, limits: {} }, TERMS)).toEqual([
      'group default → saver',
      'limits default → 60 calls/min, 4 at a time',
    ]);
    expect(termDifferences(TERMS, { ...TERMS })).toEqual([]);
  });
});
