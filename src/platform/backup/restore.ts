import type pg from 'pg';
import { from } from 'pg-copy-streams';
import { pipeline } from 'node:stream/promises';
import { type DatabaseServer, fillEmptyDatabase, longSession } from '../database/index.js';
import type { BackupFile } from './backup-file.js';
import { allTables, copyIn, END_OF_ROWS, quotedList, switchTriggers, type TableShape } from './backup-format.js';
import { BackupFailed } from './backup.js';

/**
 * Restores a backup into an empty database: its schema and rows in one transaction, then newer migrations. If one of these
 * fails, the next start retries it.
 * @throws DatabaseUnusable when the database is not empty or cannot be migrated
 */
export async function restore(backup: BackupFile, server: DatabaseServer, signal: AbortSignal): Promise<void> {
  await fillEmptyDatabase(server.url, backup.header.migrations, (session) => fill(session, backup, signal));
  await server.migrate();
  // Without statistics, PostgreSQL would plan as if the tables were empty.
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
  // The backup contains the rows that triggers would add. Foreign keys are still checked.
  for (const name of all) await session.query(switchTriggers(name, false));
  // Removes rows inserted by migrations; the backup contains them.
  await session.query(`TRUNCATE ${quotedList(all)}`);
  const reader = new BackupReader(backup.body());
  for (const table of tables) await load(session, table, reader, backup.trailer.rows[table.name], signal);
  for (const name of all) await session.query(switchTriggers(name, true));
}

async function load(
  session: pg.ClientBase,
  table: TableShape,
  reader: BackupReader,
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

const LINE_END = 10;

/** Reads lines and table rows from a decompressed backup. */
export class BackupReader {
  private readonly pieces: AsyncIterator<Buffer>;
  /** Unread bytes, starting at a line. */
  private rest: Buffer = Buffer.alloc(0);

  constructor(source: AsyncIterable<Buffer>) {
    this.pieces = source[Symbol.asyncIterator]();
  }

  /** The next line without its line feed. @throws TypeError at the end of the backup */
  async line(): Promise<string> {
    for (;;) {
      const end = this.rest.indexOf(LINE_END);
      if (end >= 0) return this.take(end + 1).toString('utf8', 0, end);
      await this.readOn();
    }
  }

  /** Chunks of whole rows up to `END_OF_ROWS`, which is consumed. @throws TypeError if it is missing */
  async *rows(): AsyncGenerator<Buffer, void, void> {
    for (;;) {
      const end = this.endOfRows();
      if (end !== undefined) {
        if (end > 0) yield this.take(end);
        this.take(END_OF_ROWS.length);
        return;
      }
      const whole = this.rest.lastIndexOf(LINE_END) + 1;
      if (whole > 0) yield this.take(whole);
      await this.readOn();
    }
  }

  /** Offset of `END_OF_ROWS`, if already read. */
  private endOfRows(): number | undefined {
    if (this.rest.subarray(0, END_OF_ROWS.length).equals(Buffer.from(END_OF_ROWS))) return 0;
    const before = this.rest.indexOf(`\n${END_OF_ROWS}`);
    return before < 0 ? undefined : before + 1;
  }

  private take(bytes: number): Buffer {
    const taken = this.rest.subarray(0, bytes);
    this.rest = this.rest.subarray(bytes);
    return taken;
  }

  private async readOn(): Promise<void> {
    const { done, value } = await this.pieces.next();
    if (done === true) throw new TypeError('The backup ends before its last row.');
    this.rest = Buffer.concat([this.rest, value]);
  }
}
