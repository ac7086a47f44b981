import { type LogPage, type LogSort, type LogStart, UsageLog } from '../../src/usage/log/usage-log.js';
import { TimeLimitedReads } from '../../src/usage/time-limited-reads.js';
import type { UsageFilter } from '../../src/usage/usage-filter.js';
import { type Owner, UsageWorld } from '../support/usage-world.js';

const MINUTE = 60_000;

describe('the usage log', () => {
  let world: UsageWorld;
  let ann: Owner;
  let bob: Owner;
  const now = Date.now();
  const ago = (minutes: number): Date => new Date(now - minutes * MINUTE);
  const page = (filter: Partial<UsageFilter> = {}, start?: LogStart, size = 50, sort?: LogSort): Promise<LogPage> =>
    world
      .get(TimeLimitedReads)
      .read((query) =>
        world
          .get(UsageLog)
          .page(
            query,
            { accountId: ann.accountId, from: ago(60 * 24 * 40), to: ago(-5), ...filter },
            start,
            size,
            sort,
          ),
      );
  const ids = async (filter: Partial<UsageFilter>): Promise<string[]> => (await page(filter)).calls.map(({ id }) => id);

  beforeEach(async () => {
    world = await UsageWorld.start();
    ann = await world.owner('ann@example.com');
    bob = await world.owner('bob@example.com', 'other');
  });
  afterEach(() => world.close());

  it('shows the newest calls first, over the end of a month, with the name of their key', async () => {
    const old = await world.call(ann, ago(60 * 24 * 35));
    const recent = await world.call(ann, ago(10));
    const { calls, newer, older } = await page();
    expect(calls.map(({ id }) => id)).toEqual([recent, old]);
    expect(calls[0]).toMatchObject({ key: 'laptop', result: 'completed', cost: 1_500_000n, promptTokens: 100 });
    expect([newer, older]).toEqual([undefined, undefined]);
  });

  it('sorts finished calls by cost, duration or tokens, highest first, newest first among equals', async () => {
    const first = await world.call(ann, ago(9), { cost: 7n, promptTokens: 5, completionTokens: 5 });
    const second = await world.call(ann, ago(8), { cost: 9n, promptTokens: 1, completionTokens: 9 });
    const third = await world.call(ann, ago(7), { cost: 7n, promptTokens: null, completionTokens: 4 });
    await world.openCall(ann, ago(1));
    for (const [id, ms] of [
      [first, 20],
      [second, 10],
      [third, 30],
    ])
      await world.sql.query('UPDATE calls SET duration_ms = $2 WHERE id = $1', [id, ms]);
    const sorted = async (sort: LogSort, filter = {}) =>
      (await page(filter, undefined, 50, sort)).calls.map(({ id }) => id);
    expect(await sorted('cost')).toEqual([second, third, first]);
    expect(await sorted('duration')).toEqual([third, first, second]);
    expect(await sorted('tokens')).toEqual([second, first, third]);
    expect(await sorted('cost', { from: ago(8.5) })).toEqual([second, third]);
  });

  it('pages through sorted calls both ways without repeating or skipping one', async () => {
    const costs = [3n, 1n, 3n, 2n, 3n];
    for (const [index, cost] of costs.entries()) await world.call(ann, ago(10 + index), { cost });
    const all = (await page({}, undefined, 50, 'cost')).calls.map(({ id }) => id);
    const pages: LogPage[] = [];
    for (let older: LogPage['older']; pages.length === 0 || older !== undefined; older = pages.at(-1)?.older)
      pages.push(await page({}, older && { before: older }, 2, 'cost'));
    expect(pages.flatMap(({ calls }) => calls.map(({ id }) => id))).toEqual(all);
    const back = await page({}, { after: pages[2]!.newer! }, 2, 'cost');
    expect(back.calls).toEqual(pages[1]!.calls);
    expect([back.newer, pages[0]!.newer]).toEqual([expect.anything(), undefined]);
  });

  it('shows nothing of another account', async () => {
    const theirs = await world.call(bob, ago(10));
    await world.openCall(bob, ago(9));
    expect(await ids({})).toEqual([]);
    expect(await ids({ requestId: theirs })).toEqual([]);
    expect(await ids({ keyId: bob.keyId })).toEqual([]);
  });

  it('shows calls that run as in progress, until they are settled', async () => {
    const open = await world.openCall(ann, ago(1));
    expect((await page()).calls).toMatchObject([{ id: open, result: 'open', cost: null, durationMs: null }]);
    expect(await ids({ result: 'open' })).toEqual([open]);
    await world.sql.query(
      `INSERT INTO calls SELECT o.id, o.created_at, o.account_id, o.key_id, o.model, o.group_name, o.protocol, '', '', true,
         '', 'succeeded', '', '', 1, 0, 0, 1, 0, 5, 0, 'reported', NULL, 1, 1, '' FROM open_calls o`,
    );
    expect((await page()).calls).toMatchObject([{ id: open, result: 'completed' }]);
  });

  it.each([
    ['completed', { status: 'succeeded' }],
    ['cut', { status: 'cancelled', errorReason: 'context canceled', billingBasis: 'partial' }],
    ['cut', { status: 'failed', errorReason: 'upstream_truncated', billingBasis: 'partial' }],
    ['refused', { status: 'refused', errorReason: 'insufficient quota', billingBasis: 'free' }],
    ['refused', { status: 'failed', errorReason: 'invalid_request', billingBasis: 'free' }],
    ['failed', { status: 'failed', errorReason: 'upstream_error', billingBasis: 'free' }],
    ['failed', { status: 'interrupted', errorReason: 'internal', billingBasis: 'free' }],
    ['timeout', { status: 'failed', errorReason: 'timeout', billingBasis: 'free' }],
  ] as const)('calls it %s when a call ended with %j, and finds it by that', async (result, ending) => {
    const call = await world.call(ann, ago(3), ending);
    expect((await page()).calls[0]!.result).toBe(result);
    expect(await ids({ result })).toEqual([call]);
    expect(await ids({ result: result === 'failed' ? 'refused' : 'failed' })).toEqual([]);
  });

  it('finds calls by model, key, group and id, all of them to the letter', async () => {
    const ci = { ...ann, keyId: await world.key(ann.accountId, 'ci') };
    const one = await world.call(ann, ago(3), { model: 'a%', group: 'saver' });
    const two = await world.call(ci, ago(2), { model: 'ab' });
    expect(await ids({ model: 'a%' })).toEqual([one]);
    expect(await ids({ model: 'A%' })).toEqual([]);
    expect(await ids({ group: 'saver' })).toEqual([one]);
    expect(await ids({ keyId: ci.keyId })).toEqual([two]);
    expect(await ids({ requestId: two })).toEqual([two]);
    expect(await ids({ requestId: two, keyId: ann.keyId })).toEqual([]);
    expect(await ids({ from: ago(2.5) })).toEqual([two]);
    expect(await ids({ to: ago(2.5) })).toEqual([one]);
  });

  it('neither repeats nor skips a call on the way through its pages, there and back, while others are added', async () => {
    const expected: string[] = [];
    for (let call = 0; call < 9; call += 1) expected.unshift(await world.call(ann, ago(100 - Math.floor(call / 2))));
    const sorted = (await page()).calls.map(({ id }) => id);
    expect(sorted.toSorted()).toEqual(expected.toSorted());

    const first = await page({}, undefined, 4);
    await world.call(ann, ago(1));
    const second = await page({}, { before: first.older! }, 4);
    await world.openCall(ann, ago(0));
    const third = await page({}, { before: second.older! }, 4);
    expect([first, second, third].flatMap(({ calls }) => calls.map(({ id }) => id))).toEqual(sorted);
    expect([first.newer, third.older]).toEqual([undefined, undefined]);

    const back = await page({}, { after: third.newer! }, 4);
    expect(back.calls).toEqual(second.calls);
    const front = await page({}, { after: back.newer! }, 4);
    expect(front.calls).toEqual(first.calls);
    const added = await page({}, { after: front.newer! }, 4);
    expect(added.calls).toHaveLength(2);
    expect(added.newer).toBeUndefined();
    expect(added.older).toBeDefined();
  });

  it('gives a statement up that takes too long, and says what to do', async () => {
    const slow = world.get(TimeLimitedReads).read((query) => query('SELECT pg_sleep(5)'), 50);
    await expect(slow).rejects.toMatchObject({ kind: 'timeout', message: expect.stringContaining('shorter') });
  });
});
