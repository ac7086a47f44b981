import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DataSource } from 'typeorm';
import { dataSourceOptions } from '../../src/platform/database/data-source.js';
import { migrate } from '../../src/platform/database/index.js';
import { ask } from '../support/backups.js';
import { emptyDatabase, freshDatabase, type TestDatabase } from '../support/database.js';

const FOLDER = join(import.meta.dirname, '../../src/platform/database/sql');
const FILES = readdirSync(FOLDER).toSorted();
const TEXTS = FILES.map((name) => readFileSync(join(FOLDER, name), 'utf8'));
const FIRST_VERSION = join(import.meta.dirname, '../fixtures/first-version/database.sql');

const FUNCTIONS = `
  SELECT proname AS name, prosrc AS body, pg_get_functiondef(oid) AS definition
    FROM pg_proc WHERE pronamespace = 'public'::regnamespace ORDER BY 1, 3`;
const OUTDATE = 'UPDATE sql_checksums SET checksum = $1 WHERE name = ANY ($2)';
const OUTDATED = `SELECT name FROM sql_checksums WHERE checksum = 'outdated' ORDER BY 1`;

describe('SQL files', () => {
  let database: TestDatabase;
  const open: DataSource[] = [];

  const query = <Row>(text: string, values?: unknown[]): Promise<Row[]> => ask(database.url, text, values);
  const functions = (): Promise<{ name: string; body: string; definition: string }[]> => query(FUNCTIONS);
  /** As if these files had been different when they were applied. */
  const outdate = (...files: string[]): Promise<unknown> => query(OUTDATE, ['outdated', files]);
  const outdated = async (): Promise<string[]> => (await query<{ name: string }>(OUTDATED)).map(({ name }) => name);

  /** Migrates in a process of its own, as far as the database can tell. */
  const start = async (lines: string[] = []): Promise<string[]> => {
    const dataSource = await new DataSource(dataSourceOptions(database.url)).initialize();
    open.push(dataSource);
    await migrate(dataSource, (line) => void lines.push(line));
    return lines;
  };

  beforeEach(async () => {
    database = await freshDatabase();
  });
  afterEach(async () => {
    await Promise.all(open.splice(0).map((dataSource) => dataSource.destroy()));
    await database.drop();
  });

  it('define every function of a fresh database once, and nothing else', async () => {
    const created = TEXTS.flatMap((text) => [...text.matchAll(/^CREATE OR REPLACE FUNCTION (\w+)\(/gm)]);
    const present = await functions();
    expect(present.map(({ name }) => name)).toEqual(created.map(([, name = '']) => name).toSorted());
    const elsewhere = present.filter(({ body }) => TEXTS.filter((text) => text.includes(body)).length !== 1);
    expect(elsewhere).toEqual([]);
  });

  it('lead a database of the first version to the same functions as a fresh one', async () => {
    const fresh = await functions();
    await database.drop();
    database = await emptyDatabase();
    await query(readFileSync(FIRST_VERSION, 'utf8'));
    expect(await functions()).not.toEqual(fresh);
    expect(await start()).toEqual(expect.arrayContaining([`Applied: ${FILES.join(', ')}.`]));
    expect(await functions()).toEqual(fresh);
  });

  it('are applied again once when they have changed', async () => {
    const before = await functions();
    await query(`CREATE OR REPLACE FUNCTION budget_period_start(period text, moment timestamptz) RETURNS date
      LANGUAGE sql IMMUTABLE AS $$ SELECT '2000-01-01'::date $$`);
    await outdate('budgets.sql');
    expect(await start()).toEqual(['Applied: budgets.sql.']);
    expect(await functions()).toEqual(before);
    expect(await start()).toEqual([]);
  });

  it('are applied by one of the processes that start together', async () => {
    await outdate(...FILES);
    const lines: string[] = [];
    await Promise.all([start(lines), start(lines), start(lines)]);
    expect(lines).toEqual([`Applied: ${FILES.join(', ')}.`]);
  });

  it('are left out when one of them fails, which the error names', async () => {
    await query(`DROP FUNCTION budget_period_start`);
    await query(`CREATE FUNCTION budget_period_start(period text, moment timestamptz) RETURNS text
      LANGUAGE sql IMMUTABLE AS $$ SELECT period $$`);
    await outdate('admit-calls.sql', 'budgets.sql');
    await expect(start()).rejects.toThrow('budgets.sql: cannot change return type of existing function');
    expect(await outdated()).toEqual(['admit-calls.sql', 'budgets.sql']);
  });

  it('are not applied to the schema of a newer version', async () => {
    await query(`INSERT INTO migrations (timestamp, name) VALUES (29991231235959, 'OfANewerVersion29991231235959')`);
    await outdate('budgets.sql');
    expect(await start()).toEqual([]);
    expect(await outdated()).toEqual(['budgets.sql']);
  });
});
