import { setTimeout as sleep } from 'node:timers/promises';
import { jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import type { TestingModule } from '@nestjs/testing';
import fc from 'fast-check';
import { DataSource } from 'typeorm';
import { RollerTimings, UsageModule, UsageRoller } from '../../src/usage/index.js';
import { anyCall, writeCalls } from '../support/arbitrary-calls.js';
import { DatabaseOutage } from '../support/database-outage.js';
import { freshDatabase, type TestDatabase } from '../support/database.js';
import { eventually, TIMEOUT_MS } from '../support/eventually.js';
import { startOn } from '../support/modules.js';

interface Sums {
  /** How many days are summed up, of those with calls that could be. */
  readonly days: number;
  readonly ofDays: number;
  readonly slots: unknown;
  readonly calls: unknown;
}

const SUMS = `
  SELECT (SELECT count(DISTINCT slot::date)::integer FROM usage_slots) AS days,
         (SELECT count(DISTINCT created_at::date)::integer FROM calls
           WHERE created_at < date_trunc('hour', now()) - interval '2 hours') AS "ofDays",
         (SELECT jsonb_object_agg(account_id, sums) FROM (
            SELECT account_id, concat_ws(' ', sum(calls), sum(cost), md5(sum(durations)::text)) AS sums
              FROM usage_slots WHERE level IN ('all', 'few') GROUP BY 1) s) AS slots,
         (SELECT jsonb_object_agg(account_id, sums) FROM (
            SELECT coalesce(account_id, '') AS account_id,
                   concat_ws(' ', count(*), sum(cost), md5(sum(latency_histogram(duration_ms))::text)) AS sums
              FROM calls WHERE created_at < (SELECT summed_until FROM usage_watermark)
             GROUP BY GROUPING SETS ((account_id), ())) c) AS calls`;

jest.setTimeout(2 * TIMEOUT_MS);

describe('calls that are summed up in the background', () => {
  const now = Date.now();
  let database: TestDatabase;
  let processes: TestingModule[];

  const start = (): Promise<TestingModule> =>
    startOn(database, [UsageModule], (builder) => builder.overrideProvider(RollerTimings).useValue({ everyMs: 20 }));
  const sql = (): DataSource => processes.at(-1)!.get(DataSource);
  const write = (seed: number): Promise<unknown> => writeCalls(sql(), now, fc.sample(anyCall, { numRuns: 300, seed }));
  const sums = async (): Promise<Sums> => (await sql().query<Sums[]>(SUMS))[0]!;
  const begun = (): Promise<void> => eventually(async () => expect((await sums()).days).toBeGreaterThan(3));
  const expectAll = (): Promise<void> =>
    eventually(async () => {
      const { days, ofDays, slots, calls } = await sums();
      expect(slots).toEqual(calls);
      expect(days).toBeGreaterThanOrEqual(ofDays);
    }, TIMEOUT_MS);

  beforeEach(async () => {
    database = await freshDatabase();
    processes = [await start(), await start()];
    await sql().query(`SELECT create_call_partitions(now() - interval '75 days', 4)`);
    await write(1);
  });
  afterEach(async () => {
    for (const one of processes) await one.close();
    await database.drop();
  });

  it('are counted once by two processes, while more are written, and after one of these has stopped', async () => {
    const [one, other] = processes.map((each) => each.get(UsageRoller));
    one?.start();
    other?.start();
    await begun();
    await Promise.all([write(2), processes.shift()?.close()]);
    await expectAll();
  });

  it('are counted once when the database was unavailable meanwhile, which is logged when it starts', async () => {
    const reported = jest.spyOn(Logger.prototype, 'error').mockImplementation(() => undefined);
    const outage = await DatabaseOutage.of(database.url);
    processes.at(-1)?.get(UsageRoller).start();
    await begun();
    await outage.begin();
    const ofRoller = () => reported.mock.calls.filter(([text]) => String(text).startsWith('Failed to roll up calls'));
    await eventually(() => expect(ofRoller()).not.toHaveLength(0));
    await sleep(300);
    await outage.end();
    await outage.close();
    await write(2);
    await expectAll();
    // A session that was ended is told in other words than one that was not had.
    expect(ofRoller().length).toBeLessThanOrEqual(2);
    reported.mockRestore();
  });
});
