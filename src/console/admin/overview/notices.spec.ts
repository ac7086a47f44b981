import { type ChannelTrouble, type NoticeConditions, notices } from './notices.js';

const ALL_WELL: NoticeConditions = {
  rests: [],
  troubles: [],
  hasChannel: true,
  unserved: [],
  countsAway: [],
  hearsOthers: true,
  lostMails: 0,
  unsettled: 0,
  paymentProblems: 0,
  corrections: [],
};
const titles = (conditions: Partial<NoticeConditions>): string[] =>
  notices({ ...ALL_WELL, ...conditions }).map(({ tone, title }) => `${tone}: ${title}`);
const trouble = (overrides: Partial<ChannelTrouble>): ChannelTrouble => ({
  channel: 'deepseek',
  attempts: 100,
  failed: 9,
  status: 429,
  ...overrides,
});
const REST = { id: 'chn_1', name: 'deepseek', tone: 'bad', label: 'Cooldown 4 min', why: 'It failed.' } as const;

describe('notices', () => {
  it('returns nothing when everything is healthy', () => {
    expect(titles({})).toEqual([]);
  });

  it.each([
    [{}, ['warn: deepseek is rejecting 9% of requests (429)']],
    [{ status: 529 }, ['warn: deepseek is failing 9% of requests (529)']],
    [{ status: null }, ['warn: deepseek is not responding to 9% of requests']],
    [{ failed: 4 }, []],
    [{ attempts: 19, failed: 19 }, []],
  ])('reports a channel when its failures reach the threshold: %j', (overrides, reported) => {
    expect(titles({ troubles: [trouble(overrides)] })).toEqual(reported);
  });

  it('reports a channel in cooldown once, with a link to it', () => {
    expect(titles({ rests: [REST], troubles: [trouble({})] })).toEqual(['bad: deepseek: cooldown 4 min']);
    expect(notices({ ...ALL_WELL, rests: [REST] })[0]?.action?.href).toBe('/admin/channels/chn_1');
  });

  it('names channels whose usage was corrected, with a link to the calls', () => {
    const corrections = [{ channel: 'a b', calls: 2 }];
    expect(titles({ corrections })).toEqual(['warn: a b reported implausible usage for 2 calls']);
    const [notice] = notices({ ...ALL_WELL, corrections });
    expect(notice?.action?.href).toBe('/admin/calls?range=24h&channel=a%20b&result=corrected');
  });

  it('links from a failing channel to its failed calls', () => {
    const [notice] = notices({ ...ALL_WELL, troubles: [trouble({ channel: 'a b' })] });
    expect(notice?.action?.href).toBe('/admin/calls?range=1h&channel=a%20b&upstream=429');
  });

  it('links to the models when there is no channel yet', () => {
    const [notice, ...others] = notices({ ...ALL_WELL, hasChannel: false });
    expect([notice?.tone, notice?.action?.href, others]).toEqual(['warn', '/admin/models', []]);
  });

  it('reports an error once when models have no channel', () => {
    expect(titles({ hasChannel: false, unserved: ['a'] })).toEqual(['bad: No channel is enabled']);
  });

  it('names three models without a channel, and counts the rest', () => {
    expect(titles({ unserved: ['a', 'b', 'c', 'd', 'e'] })).toEqual([
      'bad: No channel serves “a”, “b”, “c” and 2 more',
    ]);
  });

  it('reports Redis, database and email problems, but not a single failed email', () => {
    expect(titles({ countsAway: ['Redis'], hearsOthers: false, lostMails: 2 })).toEqual([
      'warn: Rate limits are not shared through Redis',
      'warn: Database change notifications are unavailable',
      'warn: Email is not being sent',
    ]);
    expect(titles({ lostMails: 1 })).toEqual([]);
  });

  it('returns at most six notices, errors first', () => {
    const rests = Array.from({ length: 7 }, (_, index) => ({ ...REST, name: `c${index}`, tone: 'warn' as const }));
    const reported = titles({ rests, unsettled: 1 });
    expect(reported).toHaveLength(6);
    expect(reported[0]).toBe('bad: 1 call could not be settled');
  });

  it('reports payments that could not be applied, with a link to their list', () => {
    const [notice] = notices({ ...ALL_WELL, paymentProblems: 2 });
    expect(notice).toMatchObject({
      tone: 'bad',
      title: '2 payments could not be applied',
      action: { href: '/admin/payments' },
    });
  });
});
