import type pg from 'pg';
import { ADVISORY_LOCKS } from '../database/index.js';
import { BackupFailed } from './backup.errors.js';
import type { BackupHeader } from './backup-format.js';
import { copiedTables, quotedList } from './tables.js';

/** Makes the text format independent of server and role settings. */
const AS_TEXT = `
  SET client_encoding = 'UTF8'; SET timezone = 'UTC'; SET datestyle = 'ISO, YMD'; SET intervalstyle = 'postgres';
  SET extra_float_digits = 3; SET bytea_output = 'hex'; SET row_security = off; SET lock_timeout = '30s'`;

/**
 * Begins a transaction with a snapshot that lasts until the session ends. Tables are locked before the snapshot is taken, so
 * that none of them, and no month of calls, is dropped meanwhile; nothing else is blocked.
 */
export async function beginSnapshot(session: pg.Client): Promise<void> {
  await session.query(AS_TEXT);
  // No migration may run between listing the tables and locking them.
  await session.query('SELECT pg_advisory_lock($1)', [ADVISORY_LOCKS.migrations]);
  const tables = await copiedTables(session);
  if (tables.length === 0) throw new BackupFailed('The database has no tables; there is nothing to back up.');
  await session.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
  await session.query(`LOCK TABLE ${quotedList(tables.map(({ name }) => name))} IN ACCESS SHARE MODE`);
  // The first query takes the snapshot.
  await session.query('SELECT pg_advisory_unlock($1)', [ADVISORY_LOCKS.migrations]);
}

const MIGRATIONS = 'SELECT name FROM migrations ORDER BY "timestamp"';
const MONTHS = `
  SELECT right(c.relname, 7) AS name FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
   WHERE i.inhparent = 'calls'::regclass ORDER BY 1`;

/** The part of the header that is read from the snapshot. */
export async function describeDatabase(
  session: pg.Client,
): Promise<Pick<BackupHeader, 'migrations' | 'months' | 'tables'>> {
  return {
    migrations: await names(session, MIGRATIONS),
    months: await names(session, MONTHS),
    tables: await copiedTables(session),
  };
}

async function names(session: pg.Client, sql: string): Promise<readonly string[]> {
  const { rows } = await session.query<{ name: string }>(sql);
  return rows.map(({ name }) => name);
}
