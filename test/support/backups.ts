import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { type Outcome, switchboard } from './command-line.js';
import { emptyDatabase, type TestDatabase } from './database.js';
import { removeDataDir, temporaryDataDir } from './temporary-data-dir.js';

/** What `RelayApp` runs under. */
export const OLD_SECRET_KEY = 'a test has no secrets'.padEnd(32, '.');

/** A place for backups, and for what is restored from them; `clear` after each test, `remove` after all. */
export class BackupWorld {
  readonly folder = mkdtempSync(join(tmpdir(), 'switchboard-backup-'));
  private readonly environment = { ...process.env };
  private readonly undo: (() => unknown)[] = [];

  /** A file that is not there yet. */
  file(name: string): string {
    return join(this.folder, name);
  }

  /** Runs `switchboard …` as somebody who has set these variables. */
  async command(variables: Readonly<Record<string, string>>, ...args: string[]): Promise<Outcome> {
    process.env = { ...this.environment, SECRET_KEY: OLD_SECRET_KEY, ...variables };
    try {
      return await switchboard(...args);
    } finally {
      process.env = { ...this.environment };
    }
  }

  async emptyDatabase(): Promise<TestDatabase> {
    const database = await emptyDatabase();
    this.afterwards(() => database.drop());
    return database;
  }

  emptyDataDir(): string {
    const dataDir = temporaryDataDir();
    this.afterwards(() => removeDataDir(dataDir));
    return dataDir;
  }

  /** What was made last is undone first. */
  afterwards(step: () => unknown): void {
    this.undo.unshift(step);
  }

  async clear(): Promise<void> {
    for (const step of this.undo.splice(0)) await step();
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** Asks a database over a connection of its own. */
export async function ask<Row>(url: string, text: string, values: unknown[] = []): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(text, values)).rows as Row[];
  } finally {
    await client.end();
  }
}
