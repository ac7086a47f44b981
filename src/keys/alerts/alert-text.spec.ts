import type { AlertContent } from './alert.js';
import { textOf } from './alert-mails.js';

const KEY = { emails: ['ann@example.com'], organization: null, timeZone: 'Asia/Tokyo', keyId: 'key_1', keyName: 'ci' };
const said = (alert: AlertContent) => textOf({ ...KEY, ...alert });

const quota = (used: string, top: string): AlertContent => ({ kind: 'quota', facts: { used, top } });
const budget = (period: 'day' | 'week' | 'month'): AlertContent => ({
  kind: 'budget',
  facts: { used: '1234567890', top: '1500000000', period, resetsAt: '2026-12-01T00:00:00Z' },
});

describe('alert texts', () => {
  it('state the balance rounded down and its threshold, and link to the wallet', () => {
    const words = said({ kind: 'wallet', facts: { balance: '1234567890123', below: '2000500000000' } });
    expect(words.subject).toBe('Your balance is below $2,000.50');
    expect(words.figures).toEqual([
      { label: 'Balance', value: '$1,234.56' },
      { label: 'Your threshold', value: '$2,000.50' },
    ]);
    expect(words.button).toEqual({ label: 'Add funds', path: '/wallet' });
  });

  it.each([
    ['8000000000', '10000000000', '80%'],
    ['8099999999', '10000000000', '80%'],
    ['9999999999', '10000000000', '99%'],
    ['1', '10000000000', '0%'],
    ['10000000000', '10000000000', '100%'],
    ['9223372036854775806', '9223372036854775807', '99%'],
  ])('of %s of %s nanos used state %s, rounded down', (used, top, percent) => {
    expect(said(quota(used, top)).subject).toBe(`Key “ci” has used ${percent} of its quota`);
  });

  it.each([
    ['day', 'daily', 'Daily'],
    ['week', 'weekly', 'Weekly'],
    ['month', 'monthly', 'Monthly'],
  ] as const)('of a %s name the %s budget and its reset time in the user’s time zone', (period, name, label) => {
    const words = said(budget(period));
    expect(words.subject).toBe(`Key “ci” has used 82% of its ${name} budget`);
    expect(words.figures).toEqual([
      { label: `${label} budget (UTC)`, value: '$1.50' },
      { label: 'Used', value: '$1.23, 82%' },
      { label: 'Resets', value: '1 Dec 2026, 09:00 GMT+9' },
    ]);
  });

  it('state the expiry in the time zone of the reader', () => {
    const words = said({ kind: 'expiry', facts: { expiresAt: '2026-12-31T15:30:00Z' } });
    expect(words.figures).toEqual([{ label: 'Expires', value: '1 Jan 2027, 00:30 GMT+9' }]);
  });

  it('of a key link to the page of its limits and expiry', () => {
    const facts = { used: '1', top: '1' };
    const budgetFacts = { ...facts, period: 'day', resetsAt: '2026-12-01T00:00:00Z' } as const;
    const ofKey: AlertContent[] = [
      { kind: 'quota', facts },
      { kind: 'quota-used-up', facts },
      { kind: 'budget', facts: budgetFacts },
      { kind: 'budget-used-up', facts: budgetFacts },
      { kind: 'expiry', facts: { expiresAt: '2026-12-01T00:00:00Z' } },
    ];
    expect(ofKey.map((alert) => said(alert).button.path)).toEqual(ofKey.map(() => '/keys/key_1/edit'));
  });
});
