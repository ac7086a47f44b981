import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { QueryRunner } from 'typeorm';
import { reasonOf } from '../shared/index.js';
import { isConnectionLost } from './outage.js';

/** Functions and views, as repeatable statements. The build copies the folder. */
const FOLDER = join(import.meta.dirname, 'sql');

interface SqlFile {
  readonly name: string;
  readonly text: string;
  readonly checksum: string;
}

const APPLIED = 'SELECT name, checksum FROM sql_checksums';
const RECORD = `
  INSERT INTO sql_checksums (name, checksum) VALUES ($1, $2)
  ON CONFLICT (name) DO UPDATE SET checksum = excluded.checksum, applied_at = now()`;

/**
 * Applies the SQL files that changed since they were last applied to this database, in one transaction, in order of name.
 * Logs one line for each.
 * @throws Error that names the file that failed; nothing is applied then
 */
export async function applySqlFiles(runner: QueryRunner, log: (line: string) => void): Promise<void> {
  const applied: readonly Pick<SqlFile, 'name' | 'checksum'>[] = await runner.query(APPLIED);
  const checksums = new Map(applied.map(({ name, checksum }) => [name, checksum]));
  const changed = sqlFiles().filter(({ name, checksum }) => checksums.get(name) !== checksum);
  if (changed.length === 0) return;
  await runner.startTransaction();
  try {
    for (const file of changed) await apply(runner, file);
    await runner.commitTransaction();
  } catch (error) {
    // If the session is lost, the server has rolled back already.
    await runner.rollbackTransaction().catch(() => undefined);
    throw error;
  }
  for (const { name } of changed) log(`Applied: ${name}.`);
}

async function apply(runner: QueryRunner, { name, text, checksum }: SqlFile): Promise<void> {
  try {
    await runner.query(text);
  } catch (error) {
    if (isConnectionLost(error)) throw error;
    throw new Error(`${name}: ${reasonOf(error)}`, { cause: error });
  }
  await runner.query(RECORD, [name, checksum]);
}

function sqlFiles(): readonly SqlFile[] {
  return readdirSync(FOLDER)
    .filter((name) => name.endsWith('.sql'))
    .toSorted()
    .map((name) => {
      const text = readFileSync(join(FOLDER, name), 'utf8');
      return { name, text, checksum: createHash('sha256').update(text).digest('hex') };
    });
}
