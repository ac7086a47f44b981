import type { TestingModule } from '@nestjs/testing';
import { DataSource } from 'typeorm';
import { AccountService } from '../../src/auth/index.js';
import { describeSeed, Seed, SeedModule } from '../../src/app/seed/index.js';
import { Onboarding } from '../../src/keys/onboarding/index.js';
import { LedgerCheck } from '../../src/wallet/index.js';
import { freshDatabase, type TestDatabase } from '../support/database.js';
import { startOn } from '../support/modules.js';

type Row = Readonly<Record<string, unknown>>;

const TABLES = ['accounts', 'api_keys', 'models', 'channels', 'calls', 'call_attempts', 'ledger_lines'];

describe('the seed for development', () => {
  let database: TestDatabase;
  let app: TestingModule;

  beforeAll(async () => {
    database = await freshDatabase();
    app = await startOn(database, [SeedModule]);
  });
  afterAll(async () => {
    await app.close();
    await database.drop();
  });

  const rows = (sql: string): Promise<Row[]> => app.get(DataSource).query<Row[]>(sql);
  const counts = (): Promise<Row[]> =>
    rows(TABLES.map((table) => `SELECT '${table}' AS table, count(*)::int FROM ${table}`).join(' UNION ALL '));
  /** What the calls say in one column, each value once. */
  const values = async (column: string): Promise<unknown[]> =>
    (await rows(`SELECT DISTINCT ${column} AS value FROM calls ORDER BY 1`)).map(({ value }) => value);

  it('leaves a database alone that has accounts of others', async () => {
    const [other, accounts] = [await freshDatabase(), ['one@company.test', 'two@company.test']];
    const service = await startOn(other, [SeedModule]);
    for (const email of accounts) await service.get(Onboarding).createAccount({ email });
    const outcome = await service.get(Seed).run();
    expect(outcome).toEqual({ state: 'withheld', reason: 'the database already has accounts' });
    expect(describeSeed(outcome)).toMatch(/^No seed data: the database already has accounts\./);
    expect((await service.get(AccountService).list()).map(({ email }) => email)).toEqual(accounts);
    await service.close();
    await other.drop();
  });

  it('is added once, beside the administrator of a first run, and leaves the ledger exact', async () => {
    await app.get(Onboarding).firstRun();
    await expect(app.get(Seed).run()).resolves.toEqual({ state: 'made', calls: 2000 });
    const before = await counts();
    expect(before).toContainEqual({ table: 'calls', count: 2000 });
    expect(before).toContainEqual({ table: 'accounts', count: 6 });
    await expect(app.get(LedgerCheck).run()).resolves.toEqual({ exact: true, differences: [] });

    await expect(app.get(Seed).run()).resolves.toEqual({ state: 'present' });
    expect(await counts()).toEqual(before);
    await expect(app.get(LedgerCheck).run()).resolves.toEqual({ exact: true, differences: [] });
  });

  it('has calls of every kind over thirty days, none in the future, none still open, none older than its key', async () => {
    await expect(values('status')).resolves.toEqual(['cancelled', 'failed', 'interrupted', 'refused', 'succeeded']);
    await expect(values('billing_basis')).resolves.toEqual(['estimated', 'free', 'partial', 'reported']);
    await expect(values('protocol')).resolves.toEqual(['chat-completions', 'messages', 'responses']);
    await expect(values('group_name')).resolves.toEqual(['default', 'saver']);
    await expect(values('stream')).resolves.toEqual([false, true]);
    await expect(values('model')).resolves.toHaveLength(5); // four, and none where the body was not read
    const reasons = ['', 'Invalid token', 'context canceled', 'insufficient quota', 'timeout', 'upstream_truncated'];
    await expect(values('error_reason')).resolves.toEqual(expect.arrayContaining(reasons));
    await expect(rows('SELECT id FROM open_calls')).resolves.toEqual([]);
    const [span] = await rows(
      `SELECT max(created_at) < now() AS past, min(created_at) > now() - interval '30 days 1 hour' AS recent,
              count(DISTINCT date_trunc('day', created_at)) >= 28 AS spread FROM calls`,
    );
    expect(span).toEqual({ past: true, recent: true, spread: true });
    const before = `SELECT c.id FROM calls c JOIN api_keys k ON k.id = c.key_id JOIN accounts a ON a.id = k.account_id
                     WHERE c.created_at < k.created_at OR k.created_at < a.created_at`;
    await expect(rows(before)).resolves.toEqual([]);
  });

  it('charges for what was used, and nothing where nothing is due', async () => {
    const endings = await rows(
      `SELECT status, billing_basis AS basis, bool_and(cost > 0) AS always, bool_or(cost > 0) AS ever
         FROM calls WHERE model <> 'sonata-draft' GROUP BY 1, 2 ORDER BY 1, 2`,
    );
    const paid = { always: true, ever: true };
    const unpaid = { always: false, ever: false };
    expect(endings).toEqual([
      { status: 'cancelled', basis: 'free', ...unpaid },
      { status: 'cancelled', basis: 'partial', ...paid },
      { status: 'failed', basis: 'free', ...unpaid },
      { status: 'failed', basis: 'partial', ...paid },
      { status: 'interrupted', basis: 'free', ...unpaid },
      { status: 'refused', basis: 'free', ...unpaid },
      { status: 'succeeded', basis: 'estimated', ...paid },
      { status: 'succeeded', basis: 'reported', ...paid },
    ]);
  });
});
