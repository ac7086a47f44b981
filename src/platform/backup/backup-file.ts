import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { MIGRATION_NAMES } from '../database/index.js';
import { reasonOf } from '../shared/index.js';
import { UnusableBackup } from './backup.js';
import {
  type BackupHeader,
  type BackupTrailer,
  CHECKSUM_LINE,
  CHECKSUM_LINE_BYTES,
  programVersion,
  readHeader,
  readTrailer,
} from './backup-format.js';

/** Larger than any header or trailer. */
const LONGEST_LINE_BYTES = 1024 * 1024;

/** A backup whose checksum has been verified. */
export class BackupFile {
  private constructor(
    private readonly path: string,
    readonly header: BackupHeader,
    readonly trailer: BackupTrailer,
    /** First and last byte of the compressed part. */
    private readonly bounds: { readonly start: number; readonly end: number },
  ) {}

  /** @throws UnusableBackup */
  static async open(path: string): Promise<BackupFile> {
    const handle = await open(path, 'r').catch((error: unknown) => {
      throw new UnusableBackup(path, `cannot be read: ${reasonOf(error)}.`);
    });
    try {
      return await BackupFile.read(path, handle);
    } finally {
      await handle.close();
    }
  }

  /** The tables, decompressed. */
  body(): AsyncIterable<Buffer> {
    return Readable.from(createReadStream(this.path, this.bounds)).compose(createGunzip()) as AsyncIterable<Buffer>;
  }

  private static async read(path: string, handle: FileHandle): Promise<BackupFile> {
    const { size } = await handle.stat();
    const beginning = await read(handle, 0, Math.min(size, LONGEST_LINE_BYTES));
    const start = beginning.indexOf('\n') + 1;
    const header = usableHeader(path, beginning.toString('utf8', 0, start));
    const end = size - CHECKSUM_LINE_BYTES;
    const digest = CHECKSUM_LINE.exec((await read(handle, Math.max(end, start), CHECKSUM_LINE_BYTES)).toString())?.[1];
    if (digest === undefined) throw new UnusableBackup(path, 'is truncated. Nothing was restored; use another backup.');
    if (digest !== (await digestOf(path, end)))
      throw new UnusableBackup(path, 'is corrupt: its checksum does not match. Nothing was restored.');
    const trailer = await lastLine(handle, start, end);
    // A line feed separates the compressed part from the trailer.
    const bounds = { start, end: trailer.position - 2 };
    return new BackupFile(path, header, readTrailer(trailer.text), bounds);
  }
}

/** @throws UnusableBackup when the file is not a backup, or was made by a newer version */
function usableHeader(path: string, line: string): BackupHeader {
  const reading = readHeader(line);
  if (reading.kind === 'other') throw new UnusableBackup(path, 'is not a Switchboard backup.');
  const version = reading.kind === 'newer' ? reading.version : reading.header.version;
  const unknown =
    reading.kind === 'newer' ? [] : reading.header.migrations.filter((name) => !MIGRATION_NAMES.includes(name));
  if (reading.kind === 'newer' || unknown.length > 0)
    throw new UnusableBackup(
      path,
      `was made by a newer version (${version}; this is ${programVersion()}${unknownSchema(unknown)}). Restore it with that version.`,
    );
  return reading.header;
}

const unknownSchema = (names: readonly string[]): string =>
  names.length === 0 ? '' : `, which does not know ${names.slice(0, 3).join(', ')}`;

async function read(handle: FileHandle, position: number, length: number): Promise<Buffer> {
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, position);
  return buffer.subarray(0, bytesRead);
}

/** The last line between two positions of a file. */
async function lastLine(handle: FileHandle, start: number, end: number): Promise<{ text: string; position: number }> {
  const from = Math.max(start, end - LONGEST_LINE_BYTES);
  const lines = (await read(handle, from, end - from)).subarray(0, -1);
  const before = lines.lastIndexOf('\n') + 1;
  return { text: lines.toString('utf8', before), position: from + before };
}

/** @param end exclusive */
async function digestOf(path: string, end: number): Promise<string> {
  const hash = createHash('sha256');
  for await (const piece of createReadStream(path, { end: end - 1 })) hash.update(piece as Buffer);
  return hash.digest('hex');
}
