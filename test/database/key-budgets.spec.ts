import type { TestingModule } from '@nestjs/testing';
import { DataSource } from 'typeorm';
import { type ApiKey, ApiKeyService, BudgetNotPossible, KeyDirectory, KeysModule } from '../../src/keys/index.js';
import { Onboarding, OnboardingModule } from '../../src/keys/onboarding/index.js';
import { nanos, parseUsd } from '../../src/platform/shared/index.js';
import { freshDatabase, type TestDatabase } from '../support/database.js';
import { startOn } from '../support/modules.js';

const DAY_MS = 24 * 60 * 60 * 1000;

describe('budgets of keys', () => {
  let database: TestDatabase;
  let app: TestingModule;
  let keys: ApiKeyService;
  let sql: DataSource;
  let accountId: string;
  let id: string;

  beforeEach(async () => {
    database = await freshDatabase();
    app = await startOn(database, [KeysModule, OnboardingModule]);
    keys = app.get(ApiKeyService);
    sql = app.get(DataSource);
    ({ id: accountId } = await app.get(Onboarding).createAccount({ email: 'ann@example.com' }));
    const budgets = { daily: parseUsd('5'), weekly: parseUsd('20') };
    ({ id } = await keys.create({ accountId, name: 'key', budgets }));
  });
  afterEach(async () => {
    await app.close();
    await database.drop();
  });

  const listed = async (): Promise<ApiKey['budgets'] | undefined> =>
    (await keys.list(accountId)).find((key) => key.id === id)?.budgets;
  /** What calls have left in the period that runs now, or so many of them ago. */
  const use = (period: string, used: string, held = '0', ago = 0): Promise<unknown> =>
    sql.query(
      `INSERT INTO budgets (holder_id, period, period_start, used, held, "limit")
       SELECT $1, $2, (budget_period_start($2, now()) - $5 * ('1 ' || $2)::interval)::date, $3, $4, b
         FROM (SELECT CASE $2 WHEN 'day' THEN daily_budget WHEN 'week' THEN weekly_budget ELSE monthly_budget END AS b
                 FROM api_keys WHERE id = $1)`,
      [id, period, parseUsd(used), parseUsd(held), ago],
    );
  const limits = async (): Promise<unknown> =>
    (await sql.query<{ limit: string | null }[]>('SELECT "limit" FROM budgets ORDER BY period, period_start')).map(
      ({ limit }) => limit,
    );

  it('say what may be used, what is, and when the next period begins', async () => {
    await use('day', '1.5', '0.5');
    await use('day', '4', '0', 1);
    const { budgets } = await keys.describe(id);
    expect(budgets).toMatchObject({
      daily: { limit: 5_000_000_000n, used: 1_500_000_000n, held: 500_000_000n },
      weekly: { limit: 20_000_000_000n, used: 0n, held: 0n },
      monthly: undefined,
    });
    await keys.setBudgets(id, { monthly: parseUsd('1') });
    const now = Date.now();
    const { daily, weekly, monthly } = (await listed()) ?? {};
    const resets = [daily, weekly, monthly].map((budget) => budget?.resetsAt ?? new Date(0));
    for (const reset of resets) expect(reset.toISOString()).toMatch(/T00:00:00\.000Z$/);
    const [day, week, month] = resets;
    expect(day!.getTime() - now).toBeLessThanOrEqual(DAY_MS);
    expect(day!.getTime()).toBeGreaterThan(now - DAY_MS);
    expect(week!.getUTCDay()).toBe(1);
    expect(week!.getTime() - now).toBeLessThanOrEqual(7 * DAY_MS);
    expect(week!.getTime()).toBeGreaterThanOrEqual(day!.getTime());
    expect(month!.getUTCDate()).toBe(1);
    expect(month!.getTime() - now).toBeLessThanOrEqual(31 * DAY_MS);
    expect(month!.getTime()).toBeGreaterThanOrEqual(day!.getTime());
  });

  it('can be lowered no further than what is used and held in the period that runs, naming both', async () => {
    await use('day', '1.5', '0.5');
    await use('day', '4', '0', 1);
    await expect(keys.setBudgets(id, { daily: parseUsd('1.999999999') })).rejects.toThrow(
      'A daily budget of $1.999999999 is not possible: $1.5 is used in this period and $0.5 is on hold for running calls.',
    );
    await keys.setBudgets(id, { daily: parseUsd('2') });
    expect(await listed()).toMatchObject({ daily: { limit: 2_000_000_000n, used: 1_500_000_000n } });
    // The day before keeps what it had.
    expect(await limits()).toEqual(['5000000000', '2000000000']);
  });

  it('change all together or not at all, and leave alone what is not named', async () => {
    await use('week', '10');
    const before = await listed();
    await expect(keys.setBudgets(id, { daily: parseUsd('7'), weekly: parseUsd('9') })).rejects.toThrow(
      BudgetNotPossible,
    );
    expect(await listed()).toEqual(before);
    await keys.setBudgets(id, { daily: parseUsd('7') });
    expect(await listed()).toEqual({ ...before, daily: { ...before?.daily, limit: 7_000_000_000n } });
  });

  it('can be lifted, and set again with what was used meanwhile in mind', async () => {
    await use('day', '1.5', '0.5');
    await keys.setBudgets(id, { daily: null });
    expect(await listed()).toMatchObject({ daily: undefined });
    expect(await limits()).toEqual([null]);
    await expect(keys.setBudgets(id, { daily: parseUsd('1') })).rejects.toThrow(BudgetNotPossible);
    await keys.setBudgets(id, { daily: parseUsd('3') });
    expect(await listed()).toMatchObject({ daily: { limit: 3_000_000_000n, used: 1_500_000_000n } });
    expect(await limits()).toEqual(['3000000000']);
  });

  it('raise the version of the key, so that every process reads it again', async () => {
    const version = async (): Promise<number> => (await app.get(KeyDirectory).reload(id))?.keyVersion ?? 0;
    const before = await version();
    await keys.setBudgets(id, { daily: parseUsd('6') });
    expect(await version()).toBeGreaterThan(before);
  });

  it('are refused when they are negative or beyond all reason', async () => {
    for (const limit of [nanos(-1n), nanos(9_000_000_000_000_000_001n)]) {
      await expect(keys.setBudgets(id, { daily: limit })).rejects.toThrow(BudgetNotPossible);
      await expect(keys.create({ accountId, name: 'other', budgets: { weekly: limit } })).rejects.toThrow(
        BudgetNotPossible,
      );
    }
    await keys.setBudgets(id, { daily: nanos(0n) });
    expect(await listed()).toMatchObject({ daily: { limit: 0n } });
  });
});
