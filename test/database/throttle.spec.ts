import type { TestingModule } from '@nestjs/testing';
import { DataSource } from 'typeorm';
import { AuthModule, Throttle, TooManyAttempts } from '../../src/auth/index.js';
import { PostgresThrottlerStorage } from '../../src/auth/throttle/throttle.js';
import { Clock } from '../../src/platform/shared/index.js';
import { freshDatabase, type TestDatabase } from '../support/database.js';
import { HeldClock } from '../support/held-clock.js';
import { startOn } from '../support/modules.js';

describe('throttled tries', () => {
  let database: TestDatabase;
  let app: TestingModule;
  let other: TestingModule;
  let clock: HeldClock;
  let throttles: readonly [Throttle, Throttle];

  beforeEach(async () => {
    database = await freshDatabase();
    clock = new HeldClock();
    const start = (): Promise<TestingModule> =>
      startOn(database, [AuthModule], (builder) => builder.overrideProvider(Clock).useValue(clock));
    [app, other] = await Promise.all([start(), start()]);
    throttles = [app.get(Throttle), other.get(Throttle)];
  });
  afterEach(async () => {
    await app.close();
    await other.close();
    await database.drop();
  });

  /** Passed, or when to come again. */
  const tried = async (by = 'ann', turn = 0): Promise<'passed' | number> => {
    try {
      await throttles[turn % 2 === 0 ? 0 : 1].spend('password-of-account', by);
      return 'passed';
    } catch (error) {
      if (error instanceof TooManyAttempts) return error.retryAfterSeconds;
      throw error;
    }
  };
  const times = async (count: number, by = 'ann'): Promise<('passed' | number)[]> => {
    const results: ('passed' | number)[] = [];
    for (let turn = 0; turn < count; turn++) results.push(await tried(by, turn));
    return results;
  };
  const passed = (count: number): string[] => Array.from({ length: count }, () => 'passed');

  it('are counted in all processes together, each subject by itself', async () => {
    expect(await times(7)).toEqual([...passed(5), 60, 60]);
    expect(await tried('bob')).toBe('passed');
  });

  it('are counted one by one when they come at once', async () => {
    const results = await Promise.all(Array.from({ length: 40 }, (_, turn) => tried('ann', turn)));
    expect(results.filter((result) => result === 'passed')).toHaveLength(5);
  });

  it('are blocked twice as long each time, with one try between, up to 16 minutes', async () => {
    await times(5);
    const blocks: unknown[] = [];
    for (let round = 0; round < 7; round++) {
      const seconds = await tried();
      blocks.push(seconds);
      clock.pass(Number(seconds) - 1);
      expect(await tried()).toBe(1);
      clock.pass(1);
      expect(await tried()).toBe('passed');
    }
    expect(blocks).toEqual([60, 120, 240, 480, 960, 960, 960]);
  });

  it('are forgotten when nothing was tried for the window, after a block too', async () => {
    await times(4);
    clock.pass(15 * 60);
    expect(await times(6)).toEqual([...passed(5), 60]);
    clock.pass(60 + 15 * 60);
    expect(await times(6)).toEqual([...passed(5), 60]);
  });

  it('count no longer when they are given back, and none when all are forgotten', async () => {
    const [throttle] = throttles;
    await times(5);
    await throttle.giveBack('password-of-account', 'ann');
    expect(await times(2)).toEqual(['passed', 60]);
    await throttle.giveBack('password-of-account', 'ann');
    expect(await tried()).toBe(60);
    await throttle.forget('password-of-account', 'ann');
    expect(await times(6)).toEqual([...passed(5), 60]);
  });

  it('are limited in rows whatever unauthenticated clients send, and expired rows are removed', async () => {
    const sql = app.get(DataSource);
    const count = async (): Promise<number> =>
      Number((await sql.query<{ n: string }[]>('SELECT count(*) AS n FROM throttles'))[0]?.n);
    await sql.query(
      `INSERT INTO throttles (key, hits, expires_at)
       SELECT sha256(int4send(n)), 1, $1::timestamptz + n * interval '1 ms' FROM generate_series(1, 60000) n`,
      [clock.date()],
    );
    await times(6, 'x'.repeat(100_000));
    await app.get(PostgresThrottlerStorage).clear();
    expect(await count()).toBe(50_000);
    // What blocks somebody is not what goes first.
    expect(await tried('x'.repeat(100_000))).toBe(60);
    clock.pass(3600);
    await app.get(PostgresThrottlerStorage).clear();
    expect(await count()).toBe(0);
  });

  it('clear up after others by themselves', async () => {
    const sql = app.get(DataSource);
    await sql.query('INSERT INTO throttles (key, hits, expires_at) VALUES ($1, 1, $2)', [
      Buffer.from('old'),
      clock.date(),
    ]);
    for (let turn = 0; turn < 256; turn++) await tried('ann', 0);
    await expect(sql.query(`SELECT FROM throttles WHERE key = 'old'`)).resolves.toEqual([]);
  });
});
