import { jest } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { migrations } from '../../migrations/index.js';
import { ask, BackupWorld } from '../support/backups.js';
import type { TestDatabase } from '../support/database.js';
import { aRequest } from '../support/protocols.js';
import { eventually, TIMEOUT_MS } from '../support/eventually.js';
import { ScriptedUpstream } from '../support/scripted-upstream.js';
import { Service } from '../support/service.js';
import { TestProcess } from '../support/sweep-bench.js';

// How it was made, and of what, says the README beside it.
const DUMP = readFileSync(join(import.meta.dirname, '../fixtures/first-version/database.sql'), 'utf8');
const SECRET_KEY = 'the secret key of the first version';
const CREDENTIAL = 'upstream-secret-of-then';
const KEY_OF_ANN = 'sk-3wOzTCgDy50eqeRTwg3r2yLu0hn1NIZvksQd2NhgEq01wHMo';
const EXACT = { code: 0, stdout: 'ledger exact\n', stderr: '' };
/** What Ann paid: six times 8 tokens in at $1.25 a million, 4 from a cache at $0.125, 5 out at $10. */
const PAID_BY_ANN = 6n * (8n * 1250n + 4n * 125n + 5n * 10_000n);

jest.setTimeout(3 * TIMEOUT_MS);

describe('a database that the first version made, under the program of today', () => {
  const world = new BackupWorld();
  let upstream: ScriptedUpstream;
  let database: TestDatabase;

  const command = (...args: string[]) => world.command({ DATABASE_URL: database.url, SECRET_KEY }, ...args);

  beforeAll(async () => {
    upstream = await ScriptedUpstream.start();
  });
  beforeEach(async () => {
    database = await world.emptyDatabase();
    await ask(database.url, DUMP);
    await ask(database.url, 'UPDATE public.channels SET base_url = $1', [upstream.url]);
  });
  afterEach(() => world.clear());
  afterAll(async () => {
    world.remove();
    await upstream.close();
  });

  it('is brought up to date, and its books are exact', async () => {
    expect(await command('ledger', 'check')).toEqual(EXACT);
    const applied = await ask<{ name: string }>(database.url, 'SELECT name FROM migrations');
    expect(new Set(applied.map(({ name }) => name))).toEqual(new Set(migrations.map(({ name }) => name)));
    const [paid] = await ask<{ used: string }>(database.url, `SELECT used FROM api_keys WHERE name = 'laptop'`);
    expect(BigInt(paid?.used ?? 0)).toBe(PAID_BY_ANN);
  });

  it('has calls answered for an old key, with a credential that was stored then', async () => {
    const service = await Service.start(undefined, { DATABASE_URL: database.url, SECRET_KEY, DEMO: 'off' });
    world.afterwards(() => service.remove());
    const response = await fetch(`${service.address}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${KEY_OF_ANN}`, 'content-type': 'application/json' },
      body: JSON.stringify(aRequest('chat-completions', { model: 'gpt-5.5' })),
    });
    expect(response.status).toBe(200);
    expect(upstream.requests.at(-1)?.headers['authorization']).toBe(`Bearer ${CREDENTIAL}`);
    expect(await command('ledger', 'check')).toEqual(EXACT);
  });

  it('has its old calls in the usage log', async () => {
    const { stdout } = await command('usage', 'export', '--from', '2026-11-01', '--to', '2026-12-01');
    const statuses = stdout
      .split('\n')
      .slice(1, -1)
      .map((line) => line.split(',')[10]);
    expect(statuses).toEqual([...Array.from({ length: 7 }, () => 'succeeded'), 'refused']);
  });

  it('has the call that was open closed without a charge', async () => {
    expect(await command('ledger', 'check')).toEqual(EXACT);
    const process = await TestProcess.start(database, { heartbeatMs: 50, deadAfterMs: 500 });
    await eventually(async () => {
      await process.sweep();
      expect(await ask(database.url, 'SELECT FROM open_calls')).toHaveLength(0);
    });
    await process.close();
    expect(await ask(database.url, `SELECT cost FROM calls WHERE status = 'interrupted'`)).toEqual([{ cost: '0' }]);
    expect(await command('ledger', 'check')).toEqual(EXACT);
  });
});
