import { setTimeout as sleep } from 'node:timers/promises';
import { readMargins } from '../../src/usage/rollups/margins-reader.js';
import { TimeLimitedReads } from '../../src/usage/time-limited-reads.js';
import { type ChartScale, type ChartUnit, unitFor } from '../../src/usage/rollups/usage-chart.js';
import type { UsageFilter } from '../../src/usage/usage-filter.js';
import { type LoggedCall, UsageLog } from '../../src/usage/log/usage-log.js';
import { UsageRoller } from '../../src/usage/rollups/usage-roller.js';
import { type Division, type UsageTotals, UsageTotalsReader } from '../../src/usage/rollups/usage-totals.js';
import { usedNames } from '../../src/usage/log/used-names.js';
import { eventually } from '../support/eventually.js';
import { type Owner, UsageWorld } from '../support/usage-world.js';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

describe('the sums of calls', () => {
  let world: UsageWorld;
  let ann: Owner;
  let ci: Owner;
  const now = Date.now();
  const days = (count: number): Date => new Date(now - count * DAY);
  const scale = (unit: ChartUnit, timeZone = 'UTC'): ChartScale => ({ unit, timeZone });
  const filterOf = (filter: Partial<UsageFilter>): UsageFilter => ({
    accountId: ann.accountId,
    from: days(30),
    to: new Date(now + 1000),
    ...filter,
  });
  const sums = (filter: Partial<UsageFilter> = {}, on = scale('day'), division?: Division): Promise<UsageTotals> =>
    world
      .get(TimeLimitedReads)
      .read((query) => world.get(UsageTotalsReader).read(query, filterOf(filter), on, division));
  const rows = async (filter: Partial<UsageFilter> = {}): Promise<readonly LoggedCall[]> =>
    (
      await world
        .get(TimeLimitedReads)
        .read((query) => world.get(UsageLog).page(query, filterOf(filter), undefined, 10_000))
    ).calls.filter(({ result }) => result !== 'open');
  /** The same from the rows of the log, one by one. */
  const added = (calls: readonly LoggedCall[]) => ({
    calls: calls.length,
    refused: calls.filter(({ result }) => result === 'refused').length,
    failed: calls.filter(({ result }) => ['failed', 'timeout'].includes(result)).length,
    cost: calls.reduce((sum, { cost }) => sum + (cost ?? 0n), 0n),
    promptTokens: calls.reduce((sum, { promptTokens }) => sum + (promptTokens ?? 0), 0),
    cachedTokens: calls.reduce((sum, { cachedTokens }) => sum + (cachedTokens ?? 0), 0),
    completionTokens: calls.reduce((sum, { completionTokens }) => sum + (completionTokens ?? 0), 0),
  });
  const until = async (): Promise<Date> =>
    (await world.sql.query('SELECT summed_until FROM usage_watermark'))[0].summed_until;

  const FILTERS: readonly (readonly [string, () => Partial<UsageFilter>])[] = [
    ['nothing', () => ({})],
    ['a model', () => ({ model: 'model 1' })],
    ['a key', () => ({ keyId: ci.keyId })],
    ['a group', () => ({ group: 'saver' })],
    ['a result', () => ({ result: 'refused' as const })],
    ['what runs', () => ({ result: 'open' as const })],
    [
      'times within quarters of an hour',
      () => ({ from: new Date(now - 20 * DAY + 1234), to: new Date(now - DAY - 777) }),
    ],
    ['a few minutes', () => ({ from: new Date(now - 5 * DAY), to: new Date(now - 5 * DAY + 60_000) })],
    [
      'everything at once',
      () => ({ model: 'model 1', keyId: ann.keyId, group: 'default', result: 'completed' as const }),
    ],
  ];

  const fill = async (calls: number, spreadMs = 25 * DAY): Promise<void> => {
    for (let index = 0; index < calls; index += 1) {
      await world.call(index % 3 === 0 ? ci : ann, new Date(now - Math.floor((index / calls) * spreadMs)), {
        model: `model ${index % 7}`,
        group: index % 2 === 0 ? 'default' : 'saver',
        cost: BigInt(index) * 1_000_003n,
        promptTokens: index % 5 === 0 ? null : index,
        firstTokenMs: index % 4 === 0 ? null : 100 + index,
        ...(index % 6 === 0 && { status: 'refused', errorReason: 'insufficient quota', billingBasis: 'free' }),
      });
    }
  };

  beforeEach(async () => {
    world = await UsageWorld.start();
    ann = await world.owner('ann@example.com');
    ci = { ...ann, keyId: await world.key(ann.accountId, 'ci') };
    await world.call(await world.owner('bob@example.com'), days(2), { cost: 77n });
  });
  afterEach(() => world.close());

  it('are those of the rows, filtered by anything, before and after they are summed up', async () => {
    await fill(150);
    await world.openCall(ann, days(0));
    const check = async (): Promise<void> => {
      for (const [, filter] of FILTERS) {
        const found = await sums(filter());
        expect(found.total).toEqual(added(await rows(filter())));
        expect(found.bars.reduce((sum, { cost }) => sum + cost, 0n)).toBe(found.total.cost);
      }
    };
    await check();
    await world.get(UsageRoller).roll();
    expect((await until()).getTime()).toBeGreaterThan(now - 2 * HOUR);
    await check();
    // Proof that the sums are read, and not the calls.
    await world.sql.query('UPDATE usage_slots SET cost = cost + 1');
    expect((await sums()).total.cost).toBeGreaterThan(added(await rows()).cost);
  });

  it('stay those of the rows when calls are settled late, or again in place of a sweep', async () => {
    await fill(40);
    await world.get(UsageRoller).roll();
    await world.call(ann, days(9), { cost: 123_456_789n, model: 'late' });
    await world.call(ann, new Date(now - 10 * 60_000), { cost: 5n });
    const swept = await world.call(ann, days(8), { cost: 0n, status: 'interrupted', model: 'swept' });
    await world.sql.query('DELETE FROM calls WHERE id = $1', [swept]);
    await world.call(ann, days(8), { cost: 3n, model: 'swept' });
    expect((await sums()).total).toEqual(added(await rows()));
    expect((await sums({ model: 'swept' })).total).toMatchObject({ calls: 1, failed: 0, cost: 3n });
    await world.get(UsageRoller).roll();
    expect((await sums()).total).toEqual(added(await rows()));
  });

  it('miss no call that is being written while they are made, and count none twice', async () => {
    await fill(20);
    const writer = world.sql.createQueryRunner();
    await writer.startTransaction();
    await writer.query(
      `INSERT INTO calls SELECT 'req_late', created_at, account_id, key_id, 'racing', group_name, protocol, '', '', true, '',
         'succeeded', '', '', 1, 0, 0, 1, 0, 42, 0, 'reported', NULL, 1, 1, '' FROM calls WHERE account_id = $1
         AND created_at < now() - interval '3 days' LIMIT 1`,
      [ann.accountId],
    );
    const made = world.get(UsageRoller).roll();
    expect(await Promise.race([made.then(() => 'made'), sleep(200, 'waits')])).toBe('waits');
    await writer.commitTransaction();
    await writer.release();
    await made;
    expect((await sums({ model: 'racing' })).total).toMatchObject({ calls: 1, cost: 42n });
    expect((await sums()).total).toEqual(added(await rows()));
  });

  it('take late calls of two settlements that meet the same sums in another order', async () => {
    await fill(20);
    await world.get(UsageRoller).roll();
    const late = (id: string, model: string): string =>
      `INSERT INTO calls SELECT '${id}', created_at, account_id, key_id, '${model}', group_name, protocol, '', '', true,
         '', 'succeeded', '', '', 1, 0, 0, 1, 0, 42, 0, 'reported', NULL, 1, 1, '' FROM calls
        WHERE id = (SELECT min(id) FROM calls WHERE account_id = '${ann.accountId}')`;
    const [one, other] = [world.sql.createQueryRunner(), world.sql.createQueryRunner()];
    await one.startTransaction();
    await other.startTransaction();
    await one.query(late('req_1', 'x'));
    const second = other.query(late('req_2', 'y')).then(() => other.query(late('req_3', 'x')));
    await eventually(async () => {
      const waiting = await world.sql.query('SELECT 1 FROM pg_locks WHERE NOT granted');
      expect(waiting.length).toBeGreaterThan(0);
    });
    const first = one.query(late('req_4', 'y')).then(() => one.commitTransaction());
    await Promise.all([first, second]);
    await one.release();
    await other.commitTransaction();
    await other.release();
    expect((await sums({ model: 'x' })).total.calls).toBe(2);
    expect((await sums()).total).toEqual(added(await rows()));
  });

  it('are made once when several ask at the same moment', async () => {
    await fill(30);
    await Promise.all([1, 2, 3].map(() => world.get(UsageRoller).roll()));
    expect((await sums()).total).toEqual(added(await rows()));
  });

  it.each(['UTC', 'Europe/Berlin', 'Asia/Kathmandu', 'America/St_Johns', 'Pacific/Chatham'])(
    'are divided into days as %s has them',
    async (timeZone) => {
      await fill(60);
      await world.get(UsageRoller).roll();
      const dayOf = (at: Date): string => at.toLocaleDateString('en-CA', { timeZone });
      const expected = new Map<string, bigint>();
      for (const { createdAt, cost } of await rows())
        expected.set(dayOf(createdAt), (expected.get(dayOf(createdAt)) ?? 0n) + (cost ?? 0n));
      const { bars, starts } = await sums({}, scale('day', timeZone));
      expect(new Map(bars.map(({ start, cost }) => [dayOf(start), cost]))).toEqual(expected);
      expect(starts.map((start) => start.toLocaleTimeString('en-GB', { timeZone }))).toEqual(
        starts.map(() => '00:00:00'),
      );
      expect(starts.length).toBeGreaterThanOrEqual(30);
    },
  );

  it.each([
    ['minute', HOUR, 60],
    ['hour', DAY, 24],
    ['six hours', 7 * DAY, 28],
    ['day', 30 * DAY, 30],
    ['week', 365 * DAY, 52],
  ] as const)('have bars of a %s', async (unit, span, atLeast) => {
    await fill(20, span);
    const filter = { from: new Date(now - span) };
    expect(unitFor(filter.from, new Date(now))).toBe(unit);
    await world.get(UsageRoller).roll();
    const found = await sums(filter, scale(unit));
    expect(found.starts.length).toBeGreaterThanOrEqual(atLeast);
    expect(found.starts.length).toBeLessThanOrEqual(atLeast + 2);
    expect(found.total).toEqual(added(await rows(filter)));
  });

  it('give the four largest models or keys a series of their own and put the rest together', async () => {
    await fill(70);
    for (let call = 0; call < 3; call += 1) await world.call(ann, days(1), { model: 'model 6' });
    const found = await sums({}, scale('day'), 'model');
    expect(found.series).toHaveLength(4);
    expect(found.series[0]).toBe('model 6');
    expect(new Set(found.bars.map(({ series }) => series))).toEqual(new Set([...found.series, '']));
    expect(found.total).toEqual(added(await rows()));
    expect((await sums({}, scale('day'), 'key')).series).toEqual([ann.keyId, ci.keyId]);
  });

  it('are divided by channels, and filtered by one, for all accounts together, whatever of them is summed up', async () => {
    const CHANNELS = ['main', 'spare', ''];
    for (let index = 0; index < 90; index += 1)
      await world.call(index % 2 === 0 ? ann : ci, new Date(now - (index % 3) * 4 * DAY - index * 1000), {
        channel: CHANNELS[index % 4] ?? 'main',
        model: `model ${index % 9}`,
        cost: BigInt(index),
      });
    const check = async (): Promise<void> => {
      const found = await sums({ accountId: undefined }, scale('day'), 'channel');
      expect(found.series).toEqual(['main', 'spare']);
      const all = await rows({ accountId: undefined });
      expect(found.total).toEqual(added(all));
      for (const channel of CHANNELS) {
        const cost = found.bars.filter(({ series }) => series === channel).reduce((sum, bar) => sum + bar.cost, 0n);
        expect(cost).toBe(added(all.filter((row) => row.channel === channel)).cost);
      }
      for (const filter of [
        { channel: 'spare' },
        { channel: 'spare', model: 'model 1' },
        { channel: '', group: 'default' },
      ]) {
        const requested = { ...filter, accountId: undefined };
        const matching = await rows(requested);
        expect(matching.length).toBeGreaterThan(0);
        expect((await sums(requested)).total).toEqual(added(matching));
        expect((await sums({ ...requested, accountId: ann.accountId })).total).toEqual(
          added(await rows({ ...requested, accountId: ann.accountId })),
        );
      }
    };
    await check();
    await world.get(UsageRoller).roll();
    await check();
    await world.call(ci, days(8), { channel: 'spare', cost: 99n });
    await check();
    await world.sql.query('UPDATE usage_slots SET cost = cost + 1');
    const spare = { accountId: undefined, channel: 'spare' };
    expect((await sums(spare)).total.cost).toBeGreaterThan(added(await rows(spare)).cost);
  });

  it('tell margins of models and channels by the calls that were sent to one, whatever of them is summed up', async () => {
    for (let index = 0; index < 60; index += 1)
      await world.call(index % 2 === 0 ? ann : ci, new Date(now - (index % 2) * DAY - index * 1000), {
        channel: ['main', 'spare', ''][index % 3] ?? '',
        model: `model ${index % 4}`,
        cost: BigInt(index),
        upstreamCost: index % 5 === 0 ? null : BigInt(2 * index),
      });
    const span = { from: days(1.5), to: new Date(now + 1000) };
    const check = async (by: 'model' | 'channel', model?: string): Promise<void> => {
      const parts = await world.get(TimeLimitedReads).read((query) => readMargins(query, span, by, model));
      const expected = await world.sql.query(
        `SELECT ${by} AS name, count(*)::integer AS calls, count(upstream_cost)::integer AS known, sum(upstream_cost) AS cost,
                sum(cost) FILTER (WHERE upstream_cost IS NOT NULL) AS "chargedOfKnown"
           FROM calls WHERE channel <> '' AND created_at >= $1 AND ($2::text IS NULL OR model = $2)
          GROUP BY 1 ORDER BY sum(calls.cost) DESC, 1`,
        [span.from.toISOString(), model ?? null],
      );
      expect(
        parts.map((part) => ({ ...part, cost: `${part.cost}`, chargedOfKnown: `${part.chargedOfKnown}` })),
      ).toEqual(expected);
    };
    await check('model');
    await check('channel', 'model 1');
    await world.get(UsageRoller).roll();
    await check('model');
    await check('channel', 'model 1');
  });

  it('know the models and groups of the range in the order of the alphabet, those of calls that were taken back not', async () => {
    await fill(20);
    await world.call(ann, days(40), { model: 'before', group: 'before' });
    const late = await world.call(ann, days(3), { model: 'taken back' });
    const expected = { models: [0, 1, 2, 3, 4, 5, 6].map((index) => `model ${index}`), groups: ['default', 'saver'] };
    const names = () =>
      world.get(TimeLimitedReads).read((query) => usedNames(query, { ...filterOf({}), accountId: ann.accountId }));
    expect(await names()).toEqual({ ...expected, models: [...expected.models, 'taken back'] });
    await world.get(UsageRoller).roll();
    expect(await names()).toEqual({ ...expected, models: [...expected.models, 'taken back'] });
    await world.sql.query('DELETE FROM calls WHERE id = $1', [late]);
    expect(await names()).toEqual(expected);
  });

  it('keep no row, and no series, of what no call is left of', async () => {
    await world.call(ann, days(3), { model: 'model 1' });
    const late = await world.call(ann, days(3), { model: 'taken back' });
    await world.get(UsageRoller).roll();
    expect((await sums({}, scale('day'), 'model')).series).toEqual(['model 1', 'taken back']);
    await world.sql.query('DELETE FROM calls WHERE id = $1', [late]);
    expect((await sums({}, scale('day'), 'model')).series).toEqual(['model 1']);
    expect(await world.sql.query('SELECT 1 FROM usage_slots WHERE calls = 0')).toEqual([]);
  });

  it('look up a limited number of names, however many clients have made up', async () => {
    await world.call(ann, days(3), { model: 'model 1' });
    await world.get(UsageRoller).roll();
    await world.sql.query(
      `INSERT INTO usage_slots SELECT made.* FROM usage_slots own CROSS JOIN generate_series(1, 2500) n
         CROSS JOIN jsonb_populate_record(own, CASE n
           WHEN 2500 THEN '{"level": "group", "model": "", "group_name": "behind them"}'
           ELSE jsonb_build_object('level', 'few', 'model', 'made up ' || n) END) made
        WHERE own.account_id = $1`,
      [ann.accountId],
    );
    const { models, groups } = await world
      .get(TimeLimitedReads)
      .read((query) => usedNames(query, { ...filterOf({}), accountId: ann.accountId }));
    expect(models).toHaveLength(500);
    expect(groups).not.toContain('behind them');
  });

  it('have the median and 95th percentile of streams that came to a first token, by bar and of all', async () => {
    for (const [hour, ms] of [
      [1, 100],
      [1, 300],
      [2, 500],
      [2, null],
    ] as const)
      await world.call(ann, new Date(now - hour * HOUR), { firstTokenMs: ms });
    const { total, bars } = (await sums({}, scale('hour'))).times;
    // The middles of 96 to 102 ms, of 282 to 307 and of 487 to 511; all of them lasted 900 ms, which is in 871 to 921.
    expect(total).toEqual({
      firstToken: { medianMs: 295, p95Ms: 499 },
      duration: { medianMs: 896, p95Ms: 896 },
    });
    expect([...bars.values()].map(({ firstToken }) => firstToken).filter(Boolean)).toEqual([
      { medianMs: 499, p95Ms: 499 },
      { medianMs: 99, p95Ms: 295 },
    ]);
  });
});
