import { type ChannelTrouble, type Conditions, notices } from './notices.js';

const ALL_WELL: Conditions = {
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
const titles = (conditions: Partial<Conditions>): string[] =>
  notices({ ...ALL_WELL, ...conditions }).map(({ tone, title }) => `${tone}: ${title}`);
const trouble = (overrides: Partial<ChannelTrouble>): ChannelTrouble => ({
  channel: 'deepseek',
  attempts: 100,
  failed: 9,
  status: 429,
  ...overrides,
});
const REST = { id: 'chn_1', name: 'deepseek', tone: 'bad', label: 'Resting 4 min', why: 'It failed.' } as const;

describe('what the overview says to be wrong', () => {
  it('is nothing when all is well', () => {
    expect(titles({})).toEqual([]);
  });

  it.each([
    [{}, ['warn: deepseek is refusing 9% of calls (429)']],
    [{ status: 529 }, ['warn: deepseek is failing 9% of calls (529)']],
    [{ status: null }, ['warn: deepseek is not answering 9% of calls']],
    [{ failed: 4 }, []],
    [{ attempts: 19, failed: 19 }, []],
  ])('is a channel that fails often enough to tell: %j', (overrides, told) => {
    expect(titles({ troubles: [trouble(overrides)] })).toEqual(told);
  });

  it('tells of a channel that rests once, and leads to it', () => {
    expect(titles({ rests: [REST], troubles: [trouble({})] })).toEqual(['bad: deepseek: resting 4 min']);
    expect(notices({ ...ALL_WELL, rests: [REST] })[0]?.action?.href).toBe('/admin/channels/chn_1');
  });

  it('names channels whose usage was corrected, and leads to the calls', () => {
    const corrections = [{ channel: 'a b', calls: 2 }];
    expect(titles({ corrections })).toEqual(['warn: a b reported implausible usage for 2 calls']);
    const [notice] = notices({ ...ALL_WELL, corrections });
    expect(notice?.action?.href).toBe('/admin/calls?range=24h&channel=a%20b&result=corrected');
  });

  it('leads from a failing channel to the calls that it failed', () => {
    const [notice] = notices({ ...ALL_WELL, troubles: [trouble({ channel: 'a b' })] });
    expect(notice?.action?.href).toBe('/admin/calls?range=1h&channel=a%20b&upstream=429');
  });

  it('is that there is no channel yet, with the way to the models that one needs first', () => {
    const [notice, ...others] = notices({ ...ALL_WELL, hasChannel: false });
    expect([notice?.tone, notice?.action?.href, others]).toEqual(['warn', '/admin/models', []]);
  });

  it('is worse where models wait for a channel, and is told once', () => {
    expect(titles({ hasChannel: false, unserved: ['a'] })).toEqual(['bad: No channel is switched on']);
  });

  it('names three models that nobody serves, and counts the others', () => {
    expect(titles({ unserved: ['a', 'b', 'c', 'd', 'e'] })).toEqual(['bad: Nobody serves “a”, “b”, “c” and 2 more']);
  });

  it('is what this process knows of Redis, of the database and of mail; one lost mail is an accident', () => {
    expect(titles({ countsAway: ['Redis'], hearsOthers: false, lostMails: 2 })).toEqual([
      'warn: Rate limits are not counted by Redis',
      'warn: The database does not tell of changes',
      'warn: Mail is not being sent',
    ]);
    expect(titles({ lostMails: 1 })).toEqual([]);
  });

  it('has the worst in front, and no more than six', () => {
    const rests = Array.from({ length: 7 }, (_, index) => ({ ...REST, name: `c${index}`, tone: 'warn' as const }));
    const told = titles({ rests, unsettled: 1 });
    expect(told).toHaveLength(6);
    expect(told[0]).toBe('bad: 1 call could not be settled');
  });

  it('is payments that could not be entered, with the way to their list', () => {
    const [notice] = notices({ ...ALL_WELL, paymentProblems: 2 });
    expect(notice).toMatchObject({
      tone: 'bad',
      title: '2 payments could not be entered',
      action: { href: '/admin/payments' },
    });
  });
});
