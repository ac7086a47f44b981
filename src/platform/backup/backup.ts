import type pg from 'pg';
import { to } from 'pg-copy-streams';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { longSession } from '../database/index.js';
import type { Secret } from '../shared/index.js';
import { END_OF_ROWS, headerLine, trailerLine } from './backup-format.js';
import { NewFile } from './new-file.js';
import { programVersion } from './program-version.js';
import { markOf } from './secret-key-mark.js';
import { beginSnapshot, describeDatabase } from './snapshot.js';
import { copyIn, copyOut, type TableShape } from './tables.js';

export interface BackupRequest {
  /** Of the database. Holds the password: never log it. */
  readonly url: string;
  /** Must not exist. */
  readonly file: string;
  readonly secretKey: Secret;
  readonly now: Date;
  /** Ends it early, with nothing left. */
  readonly signal: AbortSignal;
}

export interface BackupSummary {
  readonly tables: number;
  readonly rows: number;
  readonly bytes: number;
}

/**
 * Writes all that a database holds into a file, as it was at one moment, while the service goes on. Takes the same memory
 * for any size.
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

/** Gives how many rows each table has. */
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

/** @param counted is told how many rows each table has */
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

/** A row is a line: what looks like a line's end within a value is written as two characters. */
function linesIn(text: Buffer): number {
  let lines = 0;
  for (let end = text.indexOf(10); end >= 0; end = text.indexOf(10, end + 1)) lines++;
  return lines;
}
