import { DataSource, type MigrationInterface, type QueryRunner } from 'typeorm';
import { migrations } from '../../migrations/index.js';
import { dataSourceOptions } from '../../src/platform/database/data-source.js';
import { migrate } from '../../src/platform/database/index.js';
import { emptyDatabase, freshDatabase, type TestDatabase } from '../support/database.js';

class CreateFirst1700000000001 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('CREATE TABLE first (id int)');
    await runner.query('SELECT pg_sleep(0.2)');
  }

  down(): Promise<void> {
    return Promise.reject(new Error('forward only'));
  }
}

class FailHalfway1700000000002 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('CREATE TABLE second (id int)');
    await runner.query('SELECT 1 / 0');
  }

  down(): Promise<void> {
    return Promise.reject(new Error('forward only'));
  }
}

describe('Migrations', () => {
  let database: TestDatabase;
  const open: DataSource[] = [];

  const connect = async (only?: (new () => MigrationInterface)[]): Promise<DataSource> => {
    const dataSource = new DataSource({ ...dataSourceOptions(database.url), ...(only && { migrations: only }) });
    open.push(dataSource);
    return dataSource.initialize();
  };
  const tables = async (dataSource: DataSource): Promise<string[]> => {
    const rows: { tablename: string }[] = await dataSource.query(
      "SELECT tablename FROM pg_tables WHERE schemaname = 'public' AND tablename <> 'migrations' ORDER BY 1",
    );
    return rows.map(({ tablename }) => tablename);
  };

  beforeEach(async () => {
    database = await emptyDatabase();
  });
  afterEach(async () => {
    await Promise.all(open.splice(0).map((dataSource) => dataSource.destroy()));
    await database.drop();
  });

  it('run once when two processes migrate at the same time, with one log line', async () => {
    const lines: string[] = [];
    const sources = await Promise.all([connect([CreateFirst1700000000001]), connect([CreateFirst1700000000001])]);
    await Promise.all(sources.map((dataSource) => migrate(dataSource, (line) => void lines.push(line))));
    expect(lines).toEqual(['Migrated: CreateFirst1700000000001.']);
  });

  it('say nothing when there is nothing to do', async () => {
    const fresh = await freshDatabase();
    const dataSource = await new DataSource(dataSourceOptions(fresh.url)).initialize();
    const lines: string[] = [];
    await migrate(dataSource, (line) => void lines.push(line));
    await dataSource.destroy();
    await fresh.drop();
    expect(lines).toEqual([]);
  });

  it('leave nothing of the one that fails, keep what ran before it, and let the next process try', async () => {
    const dataSource = await connect([CreateFirst1700000000001, FailHalfway1700000000002]);
    await expect(migrate(dataSource, () => undefined)).rejects.toThrow('division by zero');
    expect(await tables(dataSource)).toEqual(['first']);
    await expect(migrate(await connect([CreateFirst1700000000001]), () => undefined)).resolves.toBeUndefined();
  });

  it('list what moved wallets before there was a list', async () => {
    const listed = migrations.findIndex(({ name }) => name.startsWith('SumUpUsage'));
    const before = await connect(migrations.slice(0, listed));
    await migrate(before, () => undefined);
    await before.query(`INSERT INTO ledger_entries (id, kind, created_at)
      VALUES ('led_1', 'credit', '2026-11-01Z'), ('led_2', 'refund', '2026-11-02Z'), ('led_3', 'calls', '2026-11-03Z')`);
    await before.query(`INSERT INTO ledger_lines VALUES ('led_1', 'wallet:acc_a', 5), ('led_1', 'grants', -5),
      ('led_2', 'wallet:acc_a', -5), ('led_2', 'owed:acc_a', -2), ('led_2', 'payments', 7),
      ('led_3', 'wallet:acc_a', -1), ('led_3', 'revenue', 1)`);
    const after = await connect();
    await migrate(after, () => undefined);
    expect(await after.query('SELECT account_id, entry_id FROM wallet_movements ORDER BY entry_id')).toEqual([
      { account_id: 'acc_a', entry_id: 'led_1' },
      { account_id: 'acc_a', entry_id: 'led_2' },
    ]);
  });

  it('are listed in the order in which they run', () => {
    const names = migrations.map(({ name }) => name.slice(-14));
    expect(names).toEqual(names.toSorted());
  });

  it('take an empty database to the schema of this version, with one log line', async () => {
    const dataSource = await connect();
    const lines: string[] = [];
    await migrate(dataSource, (line) => void lines.push(line));
    const [first, last] = [migrations[0]?.name, migrations.at(-1)?.name];
    expect(lines[0]).toBe(`Migrated: ${migrations.length} migrations, ${first} to ${last}.`);
    expect(lines).toHaveLength(2);
    expect(await dataSource.showMigrations()).toBe(false);
  });
});
