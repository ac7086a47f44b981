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
