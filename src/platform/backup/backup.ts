import type pg from 'pg';
import { to } from 'pg-copy-streams';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { type FileHandle, link, open, rm } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { ADVISORY_LOCKS, longSession } from '../database/index.js';
import { AppError, codeOf, reasonOf, type Secret } from '../shared/index.js';
import {
  type BackupHeader,
  checksumLine,
  copiedTables,
  copyIn,
  copyOut,
  END_OF_ROWS,
  headerLine,
  markOf,
  programVersion,
  quotedList,
  type TableShape,
  trailerLine,
} from './backup-format.js';

interface BackupRequest {
  /** URL of the database, including the password: never log it. */
  readonly url: string;
  /** Must not exist. */
  readonly file: string;
  readonly secretKey: Secret;
  readonly now: Date;
  /** Aborts the backup; no partial file is left. */
  readonly signal: AbortSignal;
}

export interface BackupSummary {
  readonly tables: number;
  readonly rows: number;
  readonly bytes: number;
}

/**
 * Writes a consistent snapshot of a database to a file while the service keeps running. Memory use does not depend on the
 * size.
 * @throws BackupFailed
 */
export async function backUp(request: BackupRequest): Promise<BackupSummary> {
  const file = await NewFile.create(request.file);
  try {
    const rows = await longSession(request.url, 'backup', (session) => copyEverything(session, file, request));
    const counts = Object.values(rows);
    return { tables: counts.length, rows: counts.reduce((sum, count) => sum + count, 0), bytes: await file.publish() };
  } finally {
    await file.discard();
  }
}

/** Returns the number of rows by table. */
async function copyEverything(
  session: pg.Client,
  file: NewFile,
  { secretKey, now, signal }: BackupRequest,
): Promise<Readonly<Record<string, number>>> {
  await beginSnapshot(session);
  const described = await describeDatabase(session);
  const about = { made_at: now.toISOString(), version: programVersion(), secret_key: markOf(secretKey) };
  await file.write(headerLine({ ...about, ...described }));
  const rows: Record<string, number> = {};
  const write = async (pieces: AsyncIterable<Buffer>): Promise<void> => {
    for await (const piece of pieces) await file.write(piece);
  };
  await pipeline(textOf(session, described.tables, rows), createGzip(), write, { signal });
  await file.write(trailerLine({ rows }));
  return rows;
}

/** @param counted receives the number of rows by table */
async function* textOf(
  session: pg.Client,
  tables: readonly TableShape[],
  counted: Record<string, number>,
): AsyncGenerator<string | Buffer, void, void> {
  for (const table of tables) {
    yield `${copyIn(table)}\n`;
    let rows = 0;
    for await (const piece of session.query(to(copyOut(table))) as AsyncIterable<Buffer>) {
      rows += linesIn(piece);
      yield piece;
    }
    counted[table.name] = rows;
    yield END_OF_ROWS;
  }
}

/** Counts rows: COPY escapes line feeds within values. */
function linesIn(text: Buffer): number {
  let lines = 0;
  for (let end = text.indexOf(10); end >= 0; end = text.indexOf(10, end + 1)) lines++;
  return lines;
}

/** Makes the text format independent of server and role settings. */
const AS_TEXT = `
  SET client_encoding = 'UTF8'; SET timezone = 'UTC'; SET datestyle = 'ISO, YMD'; SET intervalstyle = 'postgres';
  SET extra_float_digits = 3; SET bytea_output = 'hex'; SET row_security = off; SET lock_timeout = '30s'`;

/**
 * Begins a transaction with a snapshot that lasts until the session ends. Tables are locked before the snapshot is taken, so
 * that none of them, and no month of calls, is dropped meanwhile; nothing else is blocked.
 */
async function beginSnapshot(session: pg.Client): Promise<void> {
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
async function describeDatabase(session: pg.Client): Promise<Pick<BackupHeader, 'migrations' | 'months' | 'tables'>> {
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

/**
 * A file with mode 0600 that is written under a temporary name and linked to its path when complete. Never replaces an
 * existing file. Always call `discard` in the end: it removes the temporary file.
 */
class NewFile {
  private readonly hash = createHash('sha256');
  private bytes = 0;

  private constructor(
    private readonly path: string,
    private readonly aside: string,
    private readonly handle: FileHandle,
  ) {}

  /** @throws BackupFailed */
  static async create(path: string): Promise<NewFile> {
    if (existsSync(path)) throw standsThere(path);
    const aside = `${path}.${process.pid}.unfinished`;
    try {
      return new NewFile(path, aside, await open(aside, 'wx', 0o600));
    } catch (error) {
      throw new BackupFailed(`${path} cannot be written: ${reasonOf(error)}.`, error);
    }
  }

  async write(piece: string | Buffer): Promise<void> {
    const bytes = Buffer.from(piece);
    this.hash.update(bytes);
    this.bytes += bytes.length;
    await this.handle.appendFile(bytes);
  }

  /** Appends the checksum and links the file to its path. Returns its size in bytes. @throws BackupFailed */
  async publish(): Promise<number> {
    await this.write(checksumLine(this.hash.copy().digest('hex')));
    await this.handle.sync();
    try {
      await link(this.aside, this.path); // a rename would replace a file created meanwhile
    } catch (error) {
      throw codeOf(error) === 'EEXIST' ? standsThere(this.path) : error;
    }
    return this.bytes;
  }

  async discard(): Promise<void> {
    await this.handle.close();
    await rm(this.aside, { force: true });
  }
}

const standsThere = (path: string): BackupFailed =>
  new BackupFailed(`${path} already exists. Choose a new file name; backups never overwrite files.`);

/** A file that cannot be restored. The message names the file and the reason. */
export class UnusableBackup extends AppError {
  constructor(file: string, why: string) {
    super('invalid_request', `${file} ${why}`);
  }
}

/** The backup could not be written; no partial file is left. */
export class BackupFailed extends AppError {
  constructor(message: string, cause?: unknown) {
    super('internal', message, {}, { cause });
  }
}
