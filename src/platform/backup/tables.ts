import type pg from 'pg';

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

type Row = TableShape & { readonly needs: readonly string[] };

/** The copied tables, each after those that its foreign keys reference. */
export async function copiedTables(session: pg.ClientBase): Promise<readonly TableShape[]> {
  const { rows } = await session.query<Row>(TABLES);
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
function inOrder(rows: readonly Row[]): readonly TableShape[] {
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
