import fc from 'fast-check';
import { boundsOf, bucketOf, type Percentiles } from '../../src/usage/rollups/latencies.js';
import { readMargins } from '../../src/usage/rollups/margins-reader.js';
import { TimeLimitedReads } from '../../src/usage/time-limited-reads.js';
import { readTraffic } from '../../src/usage/rollups/traffic-reader.js';
import type { UsageFilter } from '../../src/usage/usage-filter.js';
import { type LogPosition, type LogStart, UsageLog } from '../../src/usage/log/usage-log.js';
import type { UpstreamResponse } from '../../src/usage/upstream-response.js';
import { UsageRoller } from '../../src/usage/rollups/usage-roller.js';
import { UsageTotalsReader } from '../../src/usage/rollups/usage-totals.js';
import { usedNames } from '../../src/usage/log/used-names.js';
import { anyCall, type ArbitraryCall, writeCalls } from '../support/arbitrary-calls.js';
import { type Question, question } from '../support/arbitrary-questions.js';
import { UsageWorld } from '../support/usage-world.js';

const RUNS = Number(process.env['ROLLUP_RUNS'] ?? 12);

type Step =
  | { readonly kind: 'write'; readonly calls: readonly ArbitraryCall[] }
  | { readonly kind: 'replace'; readonly pick: number; readonly call: ArbitraryCall }
  | { readonly kind: 'roll'; readonly steps: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constant('write' as const), calls: fc.array(anyCall, { minLength: 1, maxLength: 90 }) }),
  fc.record({ kind: fc.constant('replace' as const), pick: fc.nat(), call: anyCall }),
  fc.record({ kind: fc.constant('roll' as const), steps: fc.integer({ min: 1, max: 60 }) }),
);

/** A row of calls, as the database has it. */
interface Row {
  readonly id: string;
  readonly at: Date;
  readonly accountId: string;
  readonly keyId: string;
  readonly model: string;
  readonly group: string;
  readonly channel: string;
  readonly result: string;
  readonly attempts: number;
  readonly statuses: readonly (number | null)[];
  readonly cost: string;
  readonly upstreamCost: string | null;
  readonly prompt: string | null;
  readonly cached: string | null;
  readonly completion: string | null;
  readonly firstTokenMs: number | null;
  readonly durationMs: number;
}

const FAILED = ['failed', 'timeout'];
const added = (rows: readonly Row[], value: (row: Row) => string | null): bigint =>
  rows.reduce((sum, row) => sum + BigInt(value(row) ?? 0), 0n);
const failed = (rows: readonly Row[]): Row[] => rows.filter(({ result }) => FAILED.includes(result));

const refused = (rows: readonly Row[]): Row[] => rows.filter(({ result }) => result === 'refused');

const figures = (rows: readonly Row[]) => ({
  calls: rows.length,
  refused: refused(rows).length,
  failed: failed(rows).length,
  cost: added(rows, ({ cost }) => cost),
  promptTokens: Number(added(rows, ({ prompt }) => prompt)),
  cachedTokens: Number(added(rows, ({ cached }) => cached)),
  completionTokens: Number(added(rows, ({ completion }) => completion)),
});

/** The middle of the bucket that holds the time which so many of a hundred are not slower than. */
function percentiles(times: readonly (number | null)[]): Percentiles | undefined {
  const sorted = times.filter((ms) => ms !== null).toSorted((one, other) => one - other);
  const middle = (percent: number): number => {
    const [first, last] = boundsOf(bucketOf(sorted[Math.ceil((sorted.length * percent) / 100) - 1] ?? 0));
    return Math.round((first + last) / 2);
  };
  return sorted.length === 0 ? undefined : { medianMs: middle(50), p95Ms: middle(95) };
}

const latency = (rows: readonly Row[]) => ({
  firstToken: percentiles(rows.map(({ firstTokenMs }) => firstTokenMs)),
  duration: percentiles(rows.map(({ durationMs }) => durationMs)),
});

const isOf = (
  row: Row,
  { accountId, requestId: id, model, keyId, group, channel, result, ...filter }: UsageFilter,
): boolean =>
  Object.entries({ accountId, id, model, keyId, group, channel, result }).every(
    ([name, value]) => value === undefined || row[name as keyof Row] === value,
  ) &&
  (filter.upstream === undefined || hasAnswer(row, filter.upstream)) &&
  (filter.atALoss !== true || BigInt(row.upstreamCost ?? 0) > BigInt(row.cost));

const hasAnswer = ({ statuses }: Row, response: UpstreamResponse): boolean =>
  response === 'none'
    ? statuses.includes(null)
    : statuses.some((status) => status !== null && status >= response.from && status <= response.to);

/** The four names that most was spent on. */
function largest(rows: readonly Row[], named: (row: Row) => string): string[] {
  const costs = new Map<string, bigint>();
  for (const row of rows) costs.set(named(row), (costs.get(named(row)) ?? 0n) + BigInt(row.cost));
  const sorted = [...costs].toSorted(([one, cost], [other, more]) =>
    cost === more ? Number(one > other) - Number(one < other) : Number(more - cost),
  );
  return sorted
    .map(([name]) => name)
    .filter((name) => name !== '')
    .slice(0, 4);
}

describe('what is summed up of any calls, at any moment', () => {
  let world: UsageWorld;
  const now = Date.now();
  const read: TimeLimitedReads['read'] = (work) => world.get(TimeLimitedReads).read(work);

  beforeAll(async () => {
    world = await UsageWorld.start();
  });
  afterAll(() => world.close());

  const take = async (steps: readonly Step[]): Promise<void> => {
    await world.sql.query(
      `TRUNCATE calls, call_attempts, usage_slots; UPDATE usage_watermark SET summed_until = '-infinity'`,
    );
    const ids: string[] = [];
    for (const taken of steps) {
      if (taken.kind === 'write') ids.push(...(await writeCalls(world.sql, now, taken.calls)));
      else if (taken.kind === 'roll')
        for (let done = 0; done < taken.steps; done += 1) await world.sql.query('SELECT sum_up_usage()');
      else if (ids.length > 0) {
        const [old = ''] = ids.splice(taken.pick % ids.length, 1);
        await world.sql.query('DELETE FROM calls WHERE id = $1', [old]);
        ids.push(...(await writeCalls(world.sql, now, [taken.call])));
      }
    }
  };

  const rowsOf = async (filter: UsageFilter): Promise<Row[]> => {
    const rows: Row[] = await world.sql.query(
      `SELECT id, created_at AS at, account_id AS "accountId", key_id AS "keyId", model, group_name AS "group", channel,
              call_result(status, error_reason, billing_basis) AS result, attempts, cost, upstream_cost AS "upstreamCost",
              prompt_tokens AS prompt, cached_tokens AS cached, completion_tokens AS completion,
              first_token_ms AS "firstTokenMs", duration_ms AS "durationMs",
              ARRAY(SELECT upstream_status FROM call_attempts WHERE call_id = id) AS statuses
         FROM calls WHERE created_at >= $1 AND created_at < $2 ORDER BY created_at DESC, id DESC`,
      [filter.from.toISOString(), filter.to.toISOString()],
    );
    return rows.filter((row) => isOf(row, filter));
  };

  const filterOf = async ({ span, request, ...requested }: Question): Promise<UsageFilter> => {
    const { accountId, model, keyId, group, result, channel, upstream, atALoss } = requested;
    const bounds = { from: new Date(now - span.from), to: new Date(now - span.to) };
    const calls = await rowsOf({ accountId: undefined, ...bounds });
    const requestId = request === undefined ? undefined : (calls[request % calls.length]?.id ?? 'req_none');
    return { ...bounds, requestId, accountId, model, keyId, group, result, channel, upstream, atALoss };
  };

  const expectSums = async (requested: Question): Promise<void> => {
    const { division, unit, timeZone } = requested;
    const filter = await filterOf(requested);
    const rows = await rowsOf(filter);
    const sums = await read((query) =>
      world.get(UsageTotalsReader).read(query, filter, { unit, timeZone }, division, 'cost'),
    );
    const named = (row: Row): string => (division === undefined ? '' : row[division === 'key' ? 'keyId' : division]);
    const seriesOf = (row: Row): string => (sums.series.includes(named(row)) ? named(row) : '');
    expect(sums.total).toEqual(figures(rows));
    expect(sums.series).toEqual(largest(rows, named));
    expect(sums.times.total).toEqual(latency(rows));
    const ends = [...sums.starts.slice(1), filter.to];
    for (const [index, start] of sums.starts.entries()) {
      const ofBar = rows.filter(({ at }) => at >= start && at < (ends[index] ?? start));
      expect(sums.times.bars.get(start.getTime())).toEqual(latency(ofBar));
      for (const bar of sums.bars.filter((one) => one.start.getTime() === start.getTime())) {
        const ofSeries = ofBar.filter((row) => seriesOf(row) === bar.series);
        expect(bar).toMatchObject(figures(ofSeries));
      }
    }
  };

  /** All pages of the log, there and back, have its rows. */
  const expectPages = async (filter: UsageFilter): Promise<void> => {
    const rows = (await rowsOf(filter)).map(({ id }) => id);
    const page = (start: LogStart) => read((query) => world.get(UsageLog).page(query, filter, start, 20));
    const walk = async (way: 'older' | 'newer', startAt: (place: LogPosition) => LogStart, first: LogStart) => {
      const pages: string[][] = [];
      for (let start: LogStart | 'end' = first; start !== 'end';) {
        const { calls, ...places } = await page(start);
        pages.push(calls.map(({ id }) => id));
        const next: LogPosition | undefined = places[way];
        start = next === undefined ? 'end' : startAt(next);
      }
      return pages;
    };
    expect((await walk('older', (place) => ({ before: place }), undefined)).flat()).toEqual(rows);
    const beginning: LogStart = { after: ['2000-01-01T00:00:00Z', ''] };
    const back = await walk('newer', (place) => ({ after: place }), beginning);
    expect(back.toReversed().flat()).toEqual(rows);
  };

  const expectTraffic = async (requested: Question): Promise<void> => {
    const { from, to } = await filterOf(requested);
    const rows = await rowsOf({ accountId: undefined, from, to });
    const { total, accounts } = await read((query) => readTraffic(query, { from, to }, requested));
    const known = rows.filter(({ upstreamCost }) => upstreamCost !== null);
    expect(total).toEqual({
      calls: rows.length,
      refused: refused(rows).length,
      failed: failed(rows).length,
      failedAfterRetry: failed(rows).filter(({ attempts }) => attempts > 1).length,
      charged: added(rows, ({ cost }) => cost),
      known: known.length,
      cost: added(known, ({ upstreamCost }) => upstreamCost),
      chargedOfKnown: added(known, ({ cost }) => cost),
    });
    const margins = await read((query) => readMargins(query, { from, to }, 'channel', requested.model));
    for (const { name, ...margin } of margins) {
      const sent = rows.filter(({ channel, model }) => channel === name && model === (requested.model ?? model));
      const reported = sent.filter(({ upstreamCost }) => upstreamCost !== null);
      expect(margin).toEqual({
        calls: sent.length,
        known: reported.length,
        cost: added(reported, ({ upstreamCost }) => upstreamCost),
        chargedOfKnown: added(reported, ({ cost }) => cost),
      });
    }
    for (const { name, calls, charged } of accounts) {
      const own = rows.filter(({ accountId }) => accountId === name);
      expect({ calls, charged }).toEqual({ calls: own.length, charged: added(own, ({ cost }) => cost) });
    }
  };

  const expectNames = async ({ accountId = 'acc_1', from, to }: UsageFilter): Promise<void> => {
    const rows = await rowsOf({ accountId, from, to });
    const sorted = (names: string[]): string[] => [...new Set(names)].filter((name) => name !== '').toSorted();
    expect(await read((query) => usedNames(query, { accountId, from, to }))).toEqual({
      models: sorted(rows.filter(({ result }) => result !== 'refused').map(({ model }) => model)),
      groups: sorted(rows.map(({ group }) => group)),
    });
  };

  it('is what its rows come to, for every filter, figure, bar, page and name', async () => {
    const life = fc.record({
      steps: fc.array(step, { minLength: 2, maxLength: 8 }),
      questions: fc.array(question, { minLength: 6, maxLength: 6 }),
    });
    await fc.assert(
      fc.asyncProperty(life, async ({ steps, questions }) => {
        await take(steps);
        for (const requested of questions) {
          await expectSums(requested);
          await expectPages(await filterOf(requested));
          await expectTraffic(requested);
          await expectNames(await filterOf(requested));
        }
      }),
      { numRuns: RUNS, endOnFailure: true },
    );
  }, 240_000);

  it('puts every time into the bucket that pages read it from', async () => {
    const edges = Array.from({ length: 220 }, (_, bucket) => boundsOf(bucket)).flat();
    const times = [...new Set([...edges, 0, 3_600_000, 4_194_304, 2 ** 31 - 1])];
    const rows: { ms: number; bucket: number }[] = await world.sql.query(
      'SELECT ms, latency_bucket(ms) AS bucket FROM unnest($1::integer[]) AS ms',
      [times],
    );
    expect(rows).toEqual(times.map((ms) => ({ ms, bucket: bucketOf(ms) })));
  });

  it('makes histograms within the statement that adds them up, without a call of a function for each row', async () => {
    const plan = await world.sql.query('EXPLAIN (VERBOSE) SELECT sum(latency_histogram(duration_ms)) FROM calls');
    expect(JSON.stringify(plan)).toMatch(/width_bucket/);
    expect(JSON.stringify(plan)).not.toMatch(/latency_histogram|latency_bucket/);
  });

  it('goes on in the background until everything is summed up', async () => {
    await take([{ kind: 'write', calls: fc.sample(anyCall, { numRuns: 50, seed: 1 }) }]);
    await world.get(UsageRoller).roll();
    const [row] = await world.sql.query(
      `SELECT summed_until >= now() - interval '2 hours' AS done,
              (SELECT sum(calls)::integer FROM usage_slots WHERE account_id = '' AND level IN ('all', 'few')) AS calls,
              (SELECT count(*)::integer FROM calls WHERE created_at < summed_until) AS expected FROM usage_watermark`,
    );
    expect(row).toMatchObject({ done: true, calls: row.expected });
  });
});
