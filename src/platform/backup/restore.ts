import type pg from 'pg';
import { from } from 'pg-copy-streams';
import { pipeline } from 'node:stream/promises';
import { type DatabaseServer, fillEmptyDatabase, longSession } from '../database/index.js';
import { BackupFailed } from './backup.errors.js';
import type { BackupFile } from './backup-file.js';
import { BodyReader } from './body-reader.js';
import { allTables, copyIn, quotedList, switchTriggers, type TableShape } from './tables.js';

/**
 * Puts a backup into an empty database: the schema that it had, its rows, and then the migrations that came since. Rows and
 * schema are there together or not at all; should a later migration fail, the next start tries it again.
 * @throws DatabaseUnusable where the database is not empty or cannot be migrated
 */
export async function restore(backup: BackupFile, server: DatabaseServer, signal: AbortSignal): Promise<void> {
  await fillEmptyDatabase(server.url, backup.header.migrations, (session) => fill(session, backup, signal));
  await server.migrate();
  // Without figures of the new tables, PostgreSQL would plan as if they were empty.
  await longSession(server.url, 'restore', async (session) => {
    await session.query(`ANALYZE ${quotedList(await allTables(session))}`);
  });
}

async function fill(session: pg.ClientBase, backup: BackupFile, signal: AbortSignal): Promise<void> {
  const { months, tables } = backup.header;
  for (const month of months)
    await session.query(`SELECT create_call_partitions(to_date($1, 'YYYY_MM')::timestamp AT TIME ZONE 'UTC', 0)`, [
      month,
    ]);
  const all = await allTables(session);
  // What triggers would add is in the backup, and what they guard is being made. Foreign keys are checked all the same.
  for (const name of all) await session.query(switchTriggers(name, false));
  // Rows that migrations brought along: the backup has its own.
  await session.query(`TRUNCATE ${quotedList(all)}`);
  const reader = new BodyReader(backup.body());
  for (const table of tables) await load(session, table, reader, backup.trailer.rows[table.name], signal);
  for (const name of all) await session.query(switchTriggers(name, true));
}

async function load(
  session: pg.ClientBase,
  table: TableShape,
  reader: BodyReader,
  expected: number | undefined,
  signal: AbortSignal,
): Promise<void> {
  const statement = copyIn(table);
  const found = await reader.line();
  if (found !== statement) throw new BackupFailed(`The backup contains "${found}" where ${table.name} was expected.`);
  const copy = session.query(from(statement));
  await pipeline(reader.rows(), copy, { signal });
  if (copy.rowCount !== expected)
    throw new BackupFailed(`${table.name} has ${copy.rowCount} rows; ${expected} were expected.`);
}
