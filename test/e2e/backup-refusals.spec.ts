import { jest } from '@jest/globals';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { programVersion } from '../../src/platform/backup/backup-format.js';
import { ask, BackupWorld } from '../support/backups.js';
import { freshDatabase, type TestDatabase } from '../support/database.js';
import { TIMEOUT_MS } from '../support/eventually.js';

// Databases are made, on a machine that may have much else to do.
jest.setTimeout(2 * TIMEOUT_MS);

describe('backup and restore refuse', () => {
  const world = new BackupWorld();
  const file = world.file('good.backup');
  let source: TestDatabase;

  const tablesIn = (url: string): Promise<unknown[]> =>
    ask(url, 'SELECT FROM pg_class WHERE relnamespace = current_schema()::regnamespace');
  /** The backup with a change to it, and with the checksum that it then has. */
  const altered = (change: (text: string) => string): string => {
    const text = change(readFileSync(file, 'latin1').replace(/sha256 .*\n$/, ''));
    const bytes = Buffer.from(text, 'latin1');
    const name = world.file('altered.backup');
    const digest = createHash('sha256').update(bytes).digest('hex');
    writeFileSync(name, Buffer.concat([bytes, Buffer.from(`sha256 ${digest}\n`)]));
    return name;
  };
  /** What is said of a file that is of no use, for a database that stays as it was. */
  const refusal = async (name: string): Promise<string> => {
    const { url } = await world.emptyDatabase();
    const { code, stdout, stderr } = await world.command({ DATABASE_URL: url }, 'restore', name);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(await tablesIn(url)).toHaveLength(0);
    return stderr;
  };

  beforeAll(async () => {
    source = await freshDatabase();
    await world.command({ DATABASE_URL: source.url }, 'account', 'create', '--email', 'ann@example.com');
    await world.command({ DATABASE_URL: source.url }, 'backup', file);
  });
  afterEach(() => world.clear());
  afterAll(async () => {
    await source.drop();
    world.remove();
  });

  it('a file that is there already, which stays as it was', async () => {
    const before = readFileSync(file);
    const { code, stderr } = await world.command({ DATABASE_URL: source.url }, 'backup', file);
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: `error: ${file} already exists. Choose a new file name; backups never overwrite files.\n`,
    });
    expect(readFileSync(file).equals(before)).toBe(true);
  });

  it('a folder that cannot be written to, and a database without tables, and leave nothing behind', async () => {
    const nowhere = world.file('no-such-folder/x.backup');
    expect((await world.command({ DATABASE_URL: source.url }, 'backup', nowhere)).stderr).toContain(
      'cannot be written',
    );
    const { url } = await world.emptyDatabase();
    const nothing = await world.command({ DATABASE_URL: url }, 'backup', world.file('nothing.backup'));
    expect(nothing).toMatchObject({ code: 1, stderr: expect.stringContaining('has no tables') });
    expect(readdirSync(world.folder)).toEqual(['good.backup']);
  });

  it('a database that is not empty, and change nothing in it', async () => {
    const { code, stderr } = await world.command({ DATABASE_URL: source.url }, 'restore', file);
    expect(code).toBe(1);
    expect(stderr).toMatch(/^error: The database is not empty \(tables: accounts, .* and \d+ more\)\. Backups/);
    expect(await ask(source.url, 'SELECT email FROM accounts')).toEqual([{ email: 'ann@example.com' }]);
  });

  it('a file that is no backup, or is not there, and make nothing in an empty DATA_DIR', async () => {
    const other = world.file('other');
    writeFileSync(other, 'id,name\n1,Ann\n');
    const dataDir = world.emptyDataDir();
    const noBackup = await world.command({ DATA_DIR: dataDir }, 'restore', other);
    expect(noBackup).toMatchObject({ code: 1, stderr: `error: ${other} is not a Switchboard backup.\n` });
    expect(readdirSync(dataDir)).toEqual([]);
    expect(await refusal(world.file('not-there'))).toContain('cannot be read: ENOENT');
    rmSync(other);
  });

  it.each([1, 60, 73, 400])('a backup that lacks its last %d bytes', async (missing) => {
    const cut = world.file('cut.backup');
    writeFileSync(cut, readFileSync(file).subarray(0, -missing));
    expect(await refusal(cut)).toMatch(/is truncated/);
  });

  it.each([0.2, 0.5, 0.9])('a backup in which a bit differs, at %d of its length', async (place) => {
    const bytes = readFileSync(file);
    const at = Math.floor(bytes.length * place);
    bytes[at] = (bytes[at] ?? 0) ^ 1;
    const flipped = world.file('flipped.backup');
    writeFileSync(flipped, bytes);
    expect(await refusal(flipped)).toMatch(/is corrupt|is not a Switchboard backup|newer/);
  });

  it('a backup of a newer program, by its format and by its migrations, naming both versions', async () => {
    const newer = await refusal(
      altered((text) => text.replace('"format":1,', '"format":2,').replace(programVersion(), '777.0.0')),
    );
    expect(newer).toMatch(
      new RegExp(
        `was made by a newer version \\(777.0.0; this is ${programVersion()}\\)\\. Restore it with that version\\.\n$`,
      ),
    );
    const schema = await refusal(altered((text) => text.replace('"migrations":[', '"migrations":["AddWings2031",')));
    expect(schema).toContain('which does not know AddWings2031');
  });

  it('rows that are not those that were counted, and leave nothing half restored', async () => {
    expect(await refusal(altered((text) => text.replace('"accounts":1', '"accounts":2')))).toMatch(
      /accounts has 1 rows; 2 were expected\.\n$/,
    );
  });
});
