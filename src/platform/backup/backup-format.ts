import { hkdfSync } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PACKAGE_ROOT } from '../config/index.js';
import { isJsonObject, type Secret } from '../shared/index.js';
import type { TableShape } from './tables.js';

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
