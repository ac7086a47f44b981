import type pg from 'pg';

/** A table as it is copied: the columns that are stored, in their order. */
export interface TableShape {
  readonly name: string;
  readonly columns: readonly string[];
}

/**
 * What only means something to the service that runs, and is not copied: after a restore everybody signs in again, so that
 * no sign-in comes back that was ended since, and calls that were open are closed by whoever starts. Unlogged tables, which
 * a crash empties too, are left out as well.
 */
export const LEFT_OUT: readonly string[] = ['sessions', 'form_posts', 'processes'];

/** Written by whoever builds the schema. */
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

/** The tables that are copied, each behind those that its foreign keys lead to. */
export async function copiedTables(session: pg.ClientBase): Promise<readonly TableShape[]> {
  const { rows } = await session.query<Row>(TABLES);
  return inOrder(rows.filter(({ name }) => !LEFT_OUT.includes(name)));
}

/** All tables of the schema, those that are left out among them, but for the list of migrations. */
export async function allTables(session: pg.ClientBase): Promise<readonly string[]> {
  const { rows } = await session.query<{ name: string }>(`
    SELECT relname AS name FROM pg_class
     WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition
       AND relname <> '${OF_MIGRATIONS}' ORDER BY 1`);
  return rows.map(({ name }) => name);
}

/** @throws TypeError where foreign keys lead in a circle, or to a table that is not copied: a fault of the schema */
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

/** Of a partitioned table only a query can be copied. */
export const copyOut = (table: TableShape): string =>
  `COPY (SELECT ${columnList(table)} FROM ${quoted(table.name)}) TO STDOUT`;

/** As it stands in a backup before the table's rows, and brings them back. */
export const copyIn = (table: TableShape): string => `COPY ${quoted(table.name)} (${columnList(table)}) FROM STDIN`;

export const switchTriggers = (name: string, on: boolean): string =>
  `ALTER TABLE ${quoted(name)} ${on ? 'ENABLE' : 'DISABLE'} TRIGGER USER`;
