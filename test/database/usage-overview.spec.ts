import { type UsageOverview, UsageOverviewReader } from '../../src/console/usage/index.js';
import { type Owner, UsageWorld } from '../support/usage-world.js';

const NOW = new Date('2026-11-20T13:30:00Z');
const at = (text: string): Date => new Date(`2026-11-${text}Z`);
const FAILED = { status: 'failed', errorReason: 'upstream_error', billingBasis: 'free', cost: 0n } as const;

describe('how the calls of an account stand', () => {
  let world: UsageWorld;
  let ann: Owner;

  beforeEach(async () => {
    world = await UsageWorld.start();
    ann = await world.owner('ann@example.com');
    const bob = await world.owner('bob@example.com');
    for (let call = 0; call < 4; call += 1) await world.call(bob, at('20T12:00:00'), { ...FAILED, model: 'theirs' });
    await world.call(bob, at('20T12:00:00'), { cost: 999n, model: 'theirs' });
  });
  afterEach(() => world.close());

  const read = (days = 7, timeZone = 'Europe/Berlin'): Promise<UsageOverview> =>
    world.get(UsageOverviewReader).read({ owner: { accountId: ann.accountId }, timeZone, days, now: NOW });

  it('is nothing at first', async () => {
    const overview = await read();
    expect(overview).toMatchObject({ latest: [], troubles: [], everUsed: false, firstTokens: undefined });
    expect([overview.lastDay.calls, overview.spend.total.cost, overview.spend.starts.length]).toEqual([0, 0n, 7]);
  });

  it("sums up spending by days of the reader's clock, today the last one, and nothing older", async () => {
    await world.call(ann, at('13T22:59:59'), { cost: 1n });
    await world.call(ann, at('13T23:00:00'), { cost: 10n });
    await world.call(ann, at('19T22:59:59'), { cost: 100n });
    await world.call(ann, at('19T23:00:00'), { cost: 1000n });
    const { spend } = await read();
    const costOn = (day: string) => spend.bars.filter(({ start }) => start.getTime() === at(day).getTime());
    expect(spend.starts.map((start) => start.toISOString().slice(0, 16))).toEqual([
      '2026-11-13T23:00',
      '2026-11-14T23:00',
      '2026-11-15T23:00',
      '2026-11-16T23:00',
      '2026-11-17T23:00',
      '2026-11-18T23:00',
      '2026-11-19T23:00',
    ]);
    expect(['13T23:00:00', '18T23:00:00', '19T23:00:00'].map((day) => costOn(day)[0]?.cost)).toEqual([
      10n,
      100n,
      1000n,
    ]);
    expect(spend.total.cost).toBe(1110n);
  });

  it('tells apart the models that most was spent on, however few calls that took', async () => {
    for (const model of ['b', 'c', 'd', 'e', 'f'])
      for (let call = 0; call < 2; call += 1) await world.call(ann, at('20T10:00:00'), { model, cost: 10n });
    await world.call(ann, at('20T10:00:00'), { model: 'dear', cost: 5000n });
    const { spend } = await read();
    expect(spend.series).toEqual(['dear', 'b', 'c', 'd']);
    expect(spend.bars.find(({ series }) => series === '')?.cost).toBe(40n);
  });

  it('counts calls, failures and first tokens of the last 24 hours, and lists the last five', async () => {
    await world.call(ann, at('19T13:29:59'), { firstTokenMs: 9000 });
    for (const [minute, firstTokenMs] of [10, 20, 30].entries())
      await world.call(ann, at(`20T13:0${minute}:00`), { firstTokenMs });
    await world.call(ann, at('20T13:05:00'), { ...FAILED, firstTokenMs: null });
    const last = await world.openCall(ann, at('20T13:29:00'));
    const overview = await read();
    expect(overview.lastDay).toMatchObject({ calls: 4, failed: 1 });
    // The middle of 29 and 30 ms.
    expect(overview.firstTokens).toEqual({ medianMs: 20, p95Ms: 30 });
    expect(overview.latest.map(({ id }) => id)[0]).toBe(last);
    expect(overview.latest).toHaveLength(5);
    expect(overview.everUsed).toBe(true);
  });

  it('knows that there was a call once, however long ago', async () => {
    await world.call(ann, new Date('2026-06-01T12:00:00Z'));
    expect(await read()).toMatchObject({ latest: [], everUsed: true });
  });

  it('names models that have failed three times since they last answered, with what the last call was told', async () => {
    const refused = { status: 'refused', errorReason: 'invalid_request', billingBasis: 'free', cost: 0n } as const;
    for (const second of [1, 2, 3, 4])
      await world.call(ann, at(`20T12:00:0${second}`), { ...refused, model: 'down', errorMessage: `no ${second}` });
    // It has answered since.
    for (const second of [1, 2, 3]) await world.call(ann, at(`20T12:00:0${second}`), { ...FAILED, model: 'back' });
    await world.call(ann, at('20T12:01:00'), { model: 'back' });
    // Twice is an accident; and leaving is no response, nor a failure.
    for (const second of [1, 2]) await world.call(ann, at(`20T12:00:0${second}`), { ...FAILED, model: 'twice' });
    await world.call(ann, at('20T12:02:00'), { model: 'twice', status: 'cancelled', errorReason: 'context canceled' });
    const { troubles } = await read();
    expect(troubles).toEqual([
      {
        model: 'down',
        calls: 4,
        since: at('20T12:00:01'),
        result: 'refused',
        reason: 'invalid_request',
        message: 'no 4',
      },
    ]);
  });
});
