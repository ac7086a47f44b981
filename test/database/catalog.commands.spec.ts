import { jest } from '@jest/globals';
import type { INestApplicationContext } from '@nestjs/common';
import { Command } from 'commander';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ChannelsModule } from '../../src/catalog/channels/index.js';
import { catalogCommands } from '../../src/app/cli/catalog.commands.js';
import { ApiModule } from '../../src/relay/index.js';
import { freshDatabase, type TestDatabase } from '../support/database.js';
import { startOn } from '../support/modules.js';

const MODELS = 'models: [{ name: m, context_window: 10, max_output_tokens: 10, prices: free }]\n';
const channels = (credentials: string): string =>
  `channels: [{ name: c, protocol: messages, base_url: "http://127.0.0.1:9", models: [m], credentials: [${credentials}] }]\n`;

describe('switchboard catalog', () => {
  let database: TestDatabase;
  let app: INestApplicationContext;
  let folder: string;
  let stdout: string;
  let stderr: string;

  const inFolder = (name: string, text?: string): string => {
    const path = join(folder, name);
    if (text !== undefined) writeFileSync(path, text);
    return path;
  };
  const run = async (...words: string[]): Promise<string> => {
    stdout = '';
    const program = new Command().exitOverride();
    catalogCommands(program, (work) => work(app));
    await program.parseAsync(['catalog', ...words], { from: 'user' });
    return stdout;
  };

  beforeEach(async () => {
    database = await freshDatabase();
    app = await startOn(database, [ChannelsModule, ApiModule]);
    folder = mkdtempSync(join(tmpdir(), 'switchboard-catalog-'));
    stderr = '';
    jest.spyOn(process.stdout, 'write').mockImplementation((text) => ((stdout += String(text)), true));
    jest.spyOn(process.stderr, 'write').mockImplementation((text) => ((stderr += String(text)), true));
  });
  afterEach(async () => {
    jest.restoreAllMocks();
    rmSync(folder, { recursive: true });
    await app.close();
    await database.drop();
  });

  it('apply prints what changed, one line each, then that nothing did', async () => {
    const file = inFolder('catalog.yaml', MODELS + channels('sk-secret'));
    expect(await run('apply', file)).toBe('model m: added\nchannel c: added\n');
    expect(await run('apply', file)).toBe('nothing changed\n');
    expect(await run('apply', file, '--json')).toBe('{"changes":[]}\n');
    expect(await run('apply', inFolder('models.yaml', MODELS), '--prune', '--json')).toBe(
      '{"changes":["channel c: disabled"]}\n',
    );
    expect(stderr).toBe('');
  });

  it('apply refuses a file in one line for each fault', async () => {
    const file = inFolder('catalog.yaml', 'models: [{ name: m }]\nchannel: []\n');
    await expect(run('apply', file)).rejects.toThrow(`${file} has 4 errors; nothing was applied.`);
    expect(stderr.split('\n').toSorted()).toEqual(
      [
        '',
        `${file}:1: models[0].context_window is missing`,
        `${file}:1: models[0].max_output_tokens is missing`,
        `${file}:1: models[0].prices is missing`,
        `${file}:2: channel is not a catalog field`,
      ].toSorted(),
    );
    expect(stdout).toBe('');
  });

  it('apply refuses a file with a single fault in one line, and a file that is not there', async () => {
    const file = inFolder('catalog.yaml', MODELS + channels('***'));
    await expect(run('apply', file)).rejects.toThrow('The channel c has no stored secret for "***".');
    await expect(run('apply', inFolder('none.yaml'))).rejects.toThrow('none.yaml: ENOENT');
    expect(stderr).toBe('');
  });

  it('export prints a file without secrets, and writes secrets only to a given file with mode 600', async () => {
    await run('apply', inFolder('catalog.yaml', MODELS + channels('env:A_KEY, sk-secret')));
    const text = await run('export');
    expect(text).toContain('credentials: [ env:A_KEY, "***" ]');
    const secrets = inFolder('secrets.yaml', 'there before');
    chmodSync(secrets, 0o644);
    expect(await run('export', '--secrets-to', secrets)).toBe(text);
    expect(statSync(secrets).mode & 0o777).toBe(0o600);
    expect(readFileSync(secrets, 'utf8')).toBe(text.replace('"***"', 'sk-secret'));
    expect(readdirSync(folder).toSorted()).toEqual(['catalog.yaml', 'secrets.yaml']);
    expect(await run('apply', secrets)).toBe('nothing changed\n');
    await expect(run('export', '--secrets-to', join(folder, 'nowhere', 'file'))).rejects.toThrow(
      'Cannot write secrets to',
    );
  });
});
