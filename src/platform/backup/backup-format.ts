import type pg from 'pg';
import { hkdfSync } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PACKAGE_ROOT } from '../config/index.js';
import { isJsonObject, type Secret } from '../shared/index.js';

/*
 * A backup is a file of four parts, so that `head -1` and `tail -2` show what it is:
 *
 *   {"switchboard":"backup", …}                  a line: the header
 *   gzip                                         for each table of the header: its COPY line, its rows as PostgreSQL
 *                                                writes them as text, and a line with \.
 *   {"rows":{"accounts":12, …}}                  a line of its own: the trailer
 *   sha256 …                                     over everything before this line
 */

/** Incremented when older files can no longer be read. */
const FORMAT = 1;

export interface BackupHeader {
  /** ISO 8601, UTC. */
  readonly made_at: string;
  /** Of the program that made the backup. */
  readonly version: string;
  /** Fingerprint of the SECRET_KEY in use. */
  readonly secret_key: string;
  /** Applied migrations, in order. */
  readonly migrations: readonly string[];
  /** Months that have partitions of calls: `2026_11`. */
  readonly months: readonly string[];
  /** In the order of loading. */
  readonly tables: readonly TableShape[];
}

export interface BackupTrailer {
  /** Number of rows by table. */
  readonly rows: Readonly<Record<string, number>>;
}

/** Ends a table's rows. No row looks like it, because a backslash in a row is doubled. */
export const END_OF_ROWS = '\\.\n';

export const headerLine = (header: BackupHeader): string =>
  `${JSON.stringify({ switchboard: 'backup', format: FORMAT, ...header })}\n`;

/** Starts with a line feed, since the compressed part may end with any byte. */
export const trailerLine = (trailer: BackupTrailer): string => `\n${JSON.stringify(trailer)}\n`;

export const checksumLine = (digest: string): string => `sha256 ${digest}\n`;
export const CHECKSUM_LINE = /^sha256 ([0-9a-f]{64})\n$/;
export const CHECKSUM_LINE_BYTES = checksumLine('0'.repeat(64)).length;

/** The parsed first line, before the checksum is verified. */
type HeaderReading =
  | { readonly kind: 'backup'; readonly header: BackupHeader }
  | { readonly kind: 'newer'; readonly version: string }
  | { readonly kind: 'other' };

export function readHeader(line: string): HeaderReading {
  const said = parsed(line);
  if (!isJsonObject(said) || said['switchboard'] !== 'backup') return { kind: 'other' };
  const version = String(said['version']);
  if (typeof said['format'] !== 'number' || said['format'] > FORMAT) return { kind: 'newer', version };
  const { made_at, secret_key, migrations, months, tables } = said;
  return {
    kind: 'backup',
    header: {
      made_at: String(made_at),
      version,
      secret_key: String(secret_key),
      migrations: texts(migrations),
      months: texts(months),
      tables: objects(tables).map(({ name, columns }) => ({ name: String(name), columns: texts(columns) })),
    },
  };
}

/** For a line covered by the verified checksum. */
export function readTrailer(line: string): BackupTrailer {
  const said = parsed(line);
  const rows = isJsonObject(said) && isJsonObject(said['rows']) ? said['rows'] : {};
  return { rows: Object.fromEntries(Object.entries(rows).map(([name, count]) => [name, Number(count)])) };
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
const texts = (value: unknown): readonly string[] => list(value).map(String);
const objects = (value: unknown) => list(value).filter(isJsonObject);

/** Version of this program, from package.json. */
export function programVersion(): string {
  const described: unknown = JSON.parse(readFileSync(join(PACKAGE_ROOT, 'package.json'), 'utf8'));
  return isJsonObject(described) ? String(described['version']) : '';
}

/** Separates the fingerprint from every key derived from SECRET_KEY. */
const PURPOSE = 'switchboard mark of backups v1';
const MARK_BYTES = 12;

/** Fingerprint that identifies a SECRET_KEY without revealing it. */
export const markOf = (secretKey: Secret): string =>
  Buffer.from(hkdfSync('sha256', secretKey.reveal(), '', PURPOSE, MARK_BYTES)).toString('hex');

/** A copied table: its stored columns, in order. */
export interface TableShape {
  readonly name: string;
  readonly columns: readonly string[];
}

/**
 * Runtime state, which is not copied: after a restore users sign in again, so that no ended session returns, and open calls
 * are closed at startup. Without checksums, the restoring program applies its own SQL files. Unlogged tables, which a crash
 * empties too, are left out as well.
 */
export const LEFT_OUT: readonly string[] = ['sessions', 'form_posts', 'processes', 'sql_checksums'];

/** Written when the schema is created. */
const OF_MIGRATIONS = 'migrations';

const TABLES = `
  SELECT c.relname AS name,
         (SELECT array_agg(a.attname::text ORDER BY a.attnum) FROM pg_attribute a
           WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = '') AS columns,
         (SELECT coalesce(array_agg(DISTINCT t.relname::text), '{}') FROM pg_constraint f JOIN pg_class t ON t.oid = f.confrelid
           WHERE f.conrelid = c.oid AND f.contype = 'f' AND f.confrelid <> c.oid) AS needs
    FROM pg_class c
   WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
     AND c.relpersistence = 'p' AND c.relname <> '${OF_MIGRATIONS}'
   ORDER BY 1`;

type TableRow = TableShape & { readonly needs: readonly string[] };

/** The copied tables, each after those that its foreign keys reference. */
export async function copiedTables(session: pg.ClientBase): Promise<readonly TableShape[]> {
  const { rows } = await session.query<TableRow>(TABLES);
  return inOrder(rows.filter(({ name }) => !LEFT_OUT.includes(name)));
}

/** All tables of the schema, including those left out, except for the list of migrations. */
export async function allTables(session: pg.ClientBase): Promise<readonly string[]> {
  const { rows } = await session.query<{ name: string }>(`
    SELECT relname AS name FROM pg_class
     WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition
       AND relname <> '${OF_MIGRATIONS}' ORDER BY 1`);
  return rows.map(({ name }) => name);
}

/** @throws TypeError when foreign keys form a cycle or reference a table that is not copied: a schema error */
function inOrder(rows: readonly TableRow[]): readonly TableShape[] {
  const ordered: TableShape[] = [];
  let waiting = rows;
  while (waiting.length > 0) {
    const placed = new Set(ordered.map(({ name }) => name));
    const ready = waiting.filter(({ needs }) => needs.every((name) => placed.has(name)));
    if (ready.length === 0)
      throw new TypeError(`These tables have circular references: ${waiting.map(({ name }) => name).join(', ')}.`);
    ordered.push(...ready.map(({ name, columns }) => ({ name, columns })));
    waiting = waiting.filter((row) => !ready.includes(row));
  }
  return ordered;
}

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;
const columnList = ({ columns }: TableShape): string => columns.map(quoted).join(', ');

export const quotedList = (names: readonly string[]): string => names.map(quoted).join(', ');

/** As a query, since a partitioned table cannot be copied directly. */
export const copyOut = (table: TableShape): string =>
  `COPY (SELECT ${columnList(table)} FROM ${quoted(table.name)}) TO STDOUT`;

/** Precedes a table's rows in a backup, and loads them. */
export const copyIn = (table: TableShape): string => `COPY ${quoted(table.name)} (${columnList(table)}) FROM STDIN`;

export const switchTriggers = (name: string, on: boolean): string =>
  `ALTER TABLE ${quoted(name)} ${on ? 'ENABLE' : 'DISABLE'} TRIGGER USER`;
