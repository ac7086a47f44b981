import type { OwnKey } from '../../../keys/index.js';
import { nanos, parseUsd } from '../../../platform/shared/index.js';
import type { ModelTrouble } from '../../../usage/index.js';
import type { UsageOverview } from '../../usage/index.js';
import { attention, type AttentionConditions, daysLeftText } from './attention.js';
import { type DashboardInput, dashboardView, greeting } from './dashboard.view.js';

const NOW = new Date('2026-11-20T13:30:00Z');
const DAY_MS = 86_400_000;
const usd = (text: string) => parseUsd(text);
const NOTHING = {
  calls: 0,
  refused: 0,
  failed: 0,
  cost: nanos(0n),
  promptTokens: 0,
  cachedTokens: 0,
  completionTokens: 0,
};

const NO_TIMES = { total: { firstToken: undefined, duration: undefined }, bars: new Map() };

const aKey = (overrides: Partial<OwnKey> = {}): OwnKey => ({
  id: 'key_1',
  member: '',
  memberId: undefined,
  teamId: undefined,
  name: 'laptop',
  state: 'enabled',
  hint: 'sk-abc…wxyz',
  isTokenKey: false,
  quota: undefined,
  used: nanos(0n),
  held: nanos(0n),
  budgets: { daily: undefined, weekly: undefined, monthly: undefined },
  groupName: undefined,
  models: undefined,
  expiresAt: undefined,
  limits: {},
  networks: undefined,
  strict: false,
  neverStores: false,
  createdAt: NOW,
  version: 1,
  group: 'default',
  conditions: ['enabled'],
  lastUsedAt: undefined,
  ...overrides,
});

const aTrouble = (overrides: Partial<ModelTrouble> = {}): ModelTrouble => ({
  model: 'gemini',
  calls: 4,
  since: new Date('2026-11-20T12:05:00Z'),
  result: 'refused',
  reason: 'invalid_request',
  message: 'unsupported parameter (request id: req_1)',
  ...overrides,
});

const usageOf = (overrides: Partial<UsageOverview> = {}): UsageOverview => ({
  spend: { total: NOTHING, starts: [], bars: [], series: [], times: NO_TIMES },
  lastDay: NOTHING,
  firstTokens: undefined,
  latest: [],
  troubles: [],
  everUsed: true,
  ...overrides,
});

const conditions = (overrides: Partial<AttentionConditions> = {}): AttentionConditions => ({
  now: NOW,
  timeZone: 'Europe/Berlin',
  wallet: { balance: usd('50'), held: nanos(0n), owed: nanos(0n) },
  allowance: undefined,
  pace: undefined,
  keys: [],
  notices: [],
  usage: undefined,
  mayUseKeys: true,
  mayPay: true,
  ...overrides,
});

const input = (overrides: Partial<DashboardInput> = {}): DashboardInput => ({
  ...conditions(),
  group: { name: 'saver', multiplier: '× 0.80' },
  usage: usageOf(),
  done: { funds: true, key: true, call: true },
  payable: false,
  budget: undefined,
  isAdmin: false,
  days: 14,
  models: [],
  base: 'https://relay.example',
  ...overrides,
});

const itemsOf = (overrides: Partial<AttentionConditions>): string[] =>
  attention(conditions(overrides)).map(({ tone, name, text, action }) => `${tone}: ${name} ${text} → ${action.href}`);

describe('attention', () => {
  it('is empty when nothing needs attention', () => {
    expect(itemsOf({ keys: [aKey()], pace: usd('1') })).toEqual([]);
  });

  it('lists keys whose quota or fullest budget is nearly or fully used', () => {
    const near = aKey({ quota: usd('10'), used: usd('9'), held: usd('0.25'), conditions: ['near-quota'] });
    const daily = { limit: usd('1'), used: usd('1'), held: nanos(0n), resetsAt: NOW };
    const budgets = { daily, weekly: undefined, monthly: undefined };
    const up = aKey({ id: 'key_2', name: 'ci', quota: usd('10'), used: usd('5'), budgets, conditions: ['used-up'] });
    expect(itemsOf({ keys: [near, up] })).toEqual([
      'bad: ci has used up its daily budget → /keys/key_2/edit',
      'warn: laptop has used 92% of its quota → /keys/key_1/edit',
    ]);
  });

  it('lists keys that expire within a week', () => {
    const expiresAt = new Date(NOW.getTime() + 2.5 * DAY_MS);
    expect(itemsOf({ keys: [aKey({ expiresAt, conditions: ['expires-soon'] })] })).toEqual([
      'warn: laptop expires in 3 days → /keys/key_1/edit',
    ]);
  });

  it.each([
    [
      { kind: 'new-network', address: '203.0.113.7', network: '203.0.113.0/24' },
      'was used from a new network: 203.0.113.7 (203.0.113.0/24), on 20 Nov 2026, 14:05',
      'It was me',
    ],
    [
      { kind: 'unusual-volume', spent: usd('12.34'), usual: usd('1.5') },
      'was charged $12.34 in the hour before 20 Nov 2026, 14:05, compared with at most $1.50 per hour in the previous 14 days',
      'This was expected',
    ],
    [
      { kind: 'unusual-volume', spent: usd('12.34'), usual: usd('0') },
      'was charged $12.34 in the hour before 20 Nov 2026, 14:05, compared with nothing in the previous 14 days',
      'This was expected',
    ],
  ] as const)(
    'is what is unusual about a key, with its calls, and a button that says it is known: %j',
    (facts, text, label) => {
      const at = new Date('2026-11-20T13:05:00Z');
      const about = {
        id: 'ntc_1',
        accountId: 'acc_1',
        keyId: 'key_1',
        keyName: 'ci',
        timeZone: 'UTC',
        occasion: '',
        at,
      };
      expect(attention(conditions({ notices: [{ ...about, ...facts }] }))).toEqual([
        {
          tone: 'warn',
          icon: 'warning',
          name: 'ci',
          text,
          action: { href: expect.stringMatching(/^\/usage-logs\/common\?.*key=key_1/), label: 'Show calls' },
          known: { action: '/keys/key_1/notices/ntc_1', label },
        },
      ]);
    },
  );

  it('lists failing models with the last error, in the time zone of the reader', () => {
    const troubles = [aTrouble(), aTrouble({ model: 'a/b', result: 'failed', message: '', reason: 'upstream_error' })];
    expect(itemsOf({ usage: { troubles } })).toEqual([
      'bad: gemini 4 calls were rejected since 13:05: unsupported parameter → /usage-logs/common?range=24h&model=gemini',
      'bad: a/b 4 calls failed since 13:05: upstream error → /usage-logs/common?range=24h&model=a%2Fb',
    ]);
  });

  it.each([
    ['0', '0', undefined, 'bad:  Your balance is used up → /wallet'],
    ['0', '2', undefined, 'bad:  Your account owes $2.00. Calls are rejected until you pay it. → /wallet'],
    ['5', '0', '2', 'warn:  Your balance lasts about 2 days at this pace → /wallet'],
    ['1', '0', '2', 'warn:  Your balance lasts less than a day at this pace → /wallet'],
  ])('is a wallet of $%s that owes $%s and loses $%s a day', (balance, owed, pace, text) => {
    const wallet = { balance: usd(balance), held: nanos(0n), owed: usd(owed) };
    expect(itemsOf({ wallet, pace: pace === undefined ? undefined : usd(pace) })).toEqual([text]);
  });
});

describe('the dashboard', () => {
  it.each([
    ['2026-11-20T02:59:00Z', 'Good evening'],
    ['2026-11-20T03:00:00Z', 'Good morning'],
    ['2026-11-20T03:30:00Z', 'Good morning'],
    ['2026-11-20T10:59:00Z', 'Good morning'],
    ['2026-11-20T11:00:00Z', 'Good afternoon'],
    ['2026-11-20T17:00:00Z', 'Good evening'],
  ])('greets at %s in Berlin with %s', (at, words) => {
    expect(greeting(new Date(at), 'Europe/Berlin')).toBe(words);
  });

  it('shows the date in the time zone of the reader', () => {
    expect(dashboardView(input({ now: new Date('2026-11-20T23:30:00Z') })).today).toBe('Saturday, 21 Nov');
  });

  it('shows four figures, each with a comparison', () => {
    const [yesterday, today] = [new Date('2026-11-18T23:00:00Z'), new Date('2026-11-19T23:00:00Z')];
    const bar = (start: Date, series: string, cost: string) => ({ ...NOTHING, start, series, cost: usd(cost) });
    const bars = [bar(yesterday, 'a', '4'), bar(yesterday, '', '0.61'), bar(today, 'a', '3.08')];
    const usage = usageOf({
      spend: {
        total: { ...NOTHING, cost: usd('7.69') },
        starts: [yesterday, today],
        bars,
        series: ['a'],
        times: NO_TIMES,
      },
      lastDay: { ...NOTHING, calls: 1284, refused: 12, failed: 7 },
      firstTokens: { medianMs: 812, p95Ms: 2140 },
    });
    const view = dashboardView(input({ usage, pace: usd('2') }));
    expect(view.stats).toEqual([
      { label: 'Balance', value: '$50.00', note: 'lasts about 25 days' },
      { label: 'Spent today', value: '$3.08', note: '$4.61 yesterday' },
      { label: 'Calls, 24 h', value: '1,284', note: '12 rejected, 7 failed' },
      { label: 'First token, median', value: '812 ms', note: 'p95 2,140 ms' },
    ]);
    expect(view.spend).toMatchObject({
      text: '$7.69 in the last 14 days',
      chart: { finding: 'Spend per day, last 14 days. Total $7.69', legend: [{ name: 'a' }, { name: 'Other models' }] },
    });
  });

  it('shows a dash instead of 0 when usage could not be read', () => {
    const view = dashboardView(input({ usage: undefined }));
    expect(view.stats.map(({ value }) => value)).toEqual(['$50.00', '–', '–', '–']);
    expect(view.failed).toBe(true);
  });

  it('leads administrators to the set-up of the service', () => {
    const setUp = (isAdmin: boolean) => dashboardView(input({ isAdmin })).setUp;
    expect([setUp(true), setUp(false)]).toEqual([{ href: '/admin', label: 'Set up this service' }, false]);
  });

  it('shows new users three steps with one primary button', () => {
    const stepsOf = (setup: DashboardInput['done']) =>
      dashboardView(input({ done: setup })).steps?.map(({ title, done, ...step }) => [
        title,
        done,
        'action' in step ? (step.action?.kind ?? 'plain') : undefined,
      ]);
    expect(stepsOf({ funds: false, key: false, call: false })).toEqual([
      ['Add funds', false, 'primary'],
      ['Create an API key', false, 'plain'],
      ['Make your first call', false, 'plain'],
    ]);
    expect(stepsOf({ funds: true, key: true, call: false })?.map(([, done]) => done)).toEqual([true, true, false]);
    expect(stepsOf({ funds: true, key: true, call: true })).toBeUndefined();
  });

  it.each([
    [false, false, 'Redeem a code, or ask an administrator for credit.'],
    [true, false, 'Pay with Stripe, redeem a code, or ask an administrator for credit.'],
    [false, true, 'Redeem a code, or add credit under Users.'],
    [true, true, 'Pay with Stripe, redeem a code, or add credit under Users.'],
  ])(
    'names the available ways to add funds when payments are %s and the user is an administrator: %s',
    (payable, isAdmin, text) => {
      const done = { funds: false, key: false, call: false };
      const { steps } = dashboardView(input({ done, payable, isAdmin }));
      expect(steps).toContainEqual(expect.objectContaining({ title: 'Add funds', text }));
    },
  );

  it.each([
    ['50', '2', 'about 25 days'],
    ['3', '2', 'about a day'],
    ['1', '2', 'less than a day'],
    ['0', '2', undefined],
    ['50', '0', undefined],
    ['50', '0.01', undefined],
  ])('says that $%s at $%s a day last %s', (balance, pace, text) => {
    expect(daysLeftText(usd(balance), usd(pace))).toBe(text);
  });
});
