import fc from 'fast-check';
import { DataSource } from 'typeorm';
import { migrations } from '../../migrations/index.js';
import { dataSourceOptions } from '../../src/platform/database/data-source.js';
import { migrate } from '../../src/platform/database/index.js';
import {
  RollerTimings,
  TimeLimitedReads,
  UsageRoller,
  type UsageTotals,
  UsageTotalsReader,
} from '../../src/usage/index.js';
import { monthOf, startOf } from '../../src/usage/retention/partitions.js';
import type { UsageFilter } from '../../src/usage/usage-filter.js';
import type { Division } from '../../src/usage/rollups/usage-totals.js';
import { ACCOUNTS, anyCall, CHANNELS, MODELS, writeCalls } from '../support/arbitrary-calls.js';
import { emptyDatabase, type TestDatabase } from '../support/database.js';

const DAY_MS = 24 * 60 * 60 * 1000;

interface Row {
  readonly accountId: string;
  readonly model: string;
  readonly channel: string;
  readonly cost: string;
}

/** How calls were summed up before a migration. */
const SUM_UP = {
  RollUpUsage20261123090000: `SELECT sum_up_usage('acc_1') + interval '2 hours' < now()
                                  OR sum_up_usage('acc_2') + interval '2 hours' < now() AS more`,
  SumUpChannels20261124110000: 'SELECT sum_up_usage() AS more',
} as const;

describe('sums of calls of which some are not kept any more', () => {
  const now = Date.now();
  let database: TestDatabase;
  let sql: DataSource;

  beforeEach(async () => {
    database = await emptyDatabase();
  });
  afterEach(async () => {
    await sql.destroy();
    await database.drop();
  });

  const open = async (until?: string): Promise<void> => {
    const older = migrations.filter(({ name }) => until === undefined || name.slice(-14) < until.slice(-14));
    sql = await new DataSource({ ...dataSourceOptions(database.url), migrations: older }).initialize();
    await migrate(sql, () => undefined);
  };

  const rows = (): Promise<Row[]> =>
    sql.query('SELECT account_id AS "accountId", model, channel, cost FROM calls ORDER BY id');

  /** As retention does it. */
  const dropBeforeThisMonth = async (): Promise<void> => {
    for (
      let month = monthOf(new Date(now - 75 * DAY_MS));
      month < monthOf(new Date(now));
      month = monthOf(startOf(month, 1))
    ) {
      await sql.query(`SELECT keep_sums_of_calls(to_date($1, 'YYYY_MM'))`, [month]);
      await sql.query(`DROP TABLE calls_${month}, call_attempts_${month}`);
    }
  };

  const read = (filter: Partial<UsageFilter>, division?: Division): Promise<UsageTotals> => {
    const requested = {
      accountId: undefined,
      from: new Date(now - 80 * DAY_MS),
      to: new Date(now + DAY_MS),
      ...filter,
    };
    return new TimeLimitedReads(sql).read((query) =>
      new UsageTotalsReader().read(query, requested, { unit: 'week', timeZone: 'UTC' }, division),
    );
  };

  it.each(Object.entries(SUM_UP))(
    'stay what they were before %s, and all others are made anew',
    async (migration, sumUp) => {
      await open(migration);
      await sql.query(`SELECT create_call_partitions(now() - interval '75 days', 4)`);
      await writeCalls(sql, now, fc.sample(anyCall, { numRuns: 300, seed: 7 }));
      while ((await sql.query(sumUp))[0].more === true);
      const all = await rows();
      await dropBeforeThisMonth();
      const kept = await rows();
      expect(kept.length).toBeLessThan(all.length);
      await sql.destroy();

      await open();
      const check = async (): Promise<void> => {
        const costs = (some: readonly Row[]): bigint => some.reduce((sum, { cost }) => sum + BigInt(cost), 0n);
        const expectAll = async (filter: Partial<UsageFilter>, some: readonly Row[]): Promise<void> => {
          expect((await read(filter)).total).toMatchObject({ calls: some.length, cost: costs(some) });
        };
        await expectAll({}, all);
        for (const accountId of ACCOUNTS)
          await expectAll(
            { accountId },
            all.filter((row) => row.accountId === accountId),
          );
        for (const model of MODELS)
          await expectAll(
            { model },
            all.filter((row) => row.model === model),
          );
        const { total, bars } = await read({}, 'channel');
        expect(total).toMatchObject({ calls: all.length, cost: costs(all) });
        for (const channel of CHANNELS.filter((name) => name !== '')) {
          const own = kept.filter((row) => row.channel === channel);
          await expectAll({ channel }, own);
          expect(bars.reduce((sum, { series, cost }) => (series === channel ? sum + cost : sum), 0n)).toBe(costs(own));
        }
      };
      await check();
      await new UsageRoller(sql, new RollerTimings()).roll();
      await check();
    },
  );
});
