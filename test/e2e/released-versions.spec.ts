import { jest } from '@jest/globals';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { migrations } from '../../migrations/index.js';
import { ask, BackupWorld } from '../support/backups.js';
import { aRequest } from '../support/protocols.js';
import { TIMEOUT_MS } from '../support/eventually.js';
import { Service } from '../support/service.js';

/** Each release adds a backup of a database of its own: scripts/release/database.mjs. */
const FOLDER = join(import.meta.dirname, '../fixtures/releases');
const BACKUPS = readdirSync(FOLDER).filter((name) => name.endsWith('.backup'));
const SECRET_KEY = 'the secret key of released versions';
const API_KEY = 'sk-known-to-everyone-in-each-released-database';
const EXACT = { code: 0, stdout: 'ledger exact\n', stderr: '' };

jest.setTimeout(3 * TIMEOUT_MS);

describe('the database of a released version, under the program of today', () => {
  const world = new BackupWorld();
  afterEach(() => world.clear());
  afterAll(() => world.remove());

  it('is stored for at least one version', () => {
    expect(BACKUPS).toContain('0.1.0.backup');
  });

  it.each(BACKUPS)('is migrated, exact, and serves calls: %s', async (name) => {
    const { url } = await world.emptyDatabase();
    const variables = { DATABASE_URL: url, SECRET_KEY };
    const { code, stdout, stderr } = await world.command(variables, 'restore', join(FOLDER, name));
    expect({ code, stderr }).toEqual({ code: 0, stderr: 'SECRET_KEY matches the backup.\n' });
    expect(stdout).toContain(`under version ${name.replace('.backup', '')}\n`);
    const applied = await ask<{ name: string }>(url, 'SELECT name FROM migrations');
    expect(new Set(applied.map((row) => row.name))).toEqual(new Set(migrations.map((migration) => migration.name)));
    expect(await world.command(variables, 'ledger', 'check')).toEqual(EXACT);

    const service = await Service.start(undefined, { ...variables, DEMO: 'on' });
    world.afterwards(() => service.remove());
    const calls = async (): Promise<number> => (await ask(url, 'SELECT FROM calls')).length;
    const before = await calls();
    expect(before).toBeGreaterThan(0);
    const response = await fetch(`${service.address}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify(aRequest('chat-completions', { model: 'demo' })),
    });
    expect([response.status, await response.json()]).toMatchObject([200, { object: 'chat.completion' }]);
    expect(await calls()).toBe(before + 1);
    expect(await world.command(variables, 'ledger', 'check')).toEqual(EXACT);
  });
});
