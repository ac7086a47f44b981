import { jest } from '@jest/globals';
import { Command } from 'commander';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DataSource } from 'typeorm';
import { CatalogService } from '../../src/catalog/index.js';
import { catalogCommands } from '../../src/app/cli/catalog.commands.js';
import { VENDORS } from '../conformance/protocols/index.js';
import { channelFields } from '../support/channel-pages.js';
import { aRequest } from '../support/protocols.js';
import type { PageVisitor, PageResponse } from '../support/page-visitor.js';
import { RelayApp } from '../support/relay-app.js';
import { operatorVisit } from '../support/operator-visit.js';
import { removeDataDir, temporaryDataDir } from '../support/temporary-data-dir.js';
import { CREDENTIAL_VARIABLE, ODD_NAMES, wholeCatalog } from '../support/whole-catalog.js';

const VARIABLES = { [CREDENTIAL_VARIABLE]: 'sk-of-the-environment' };
const TYPED_SECRETS = ['sk-typed-into-the-page-7b1x', 'sk-typed-second-9c8d'];

describe('a catalog that is exported and applied to an empty database', () => {
  const dataDir = temporaryDataDir();
  const secretsFile = join(dataDir, 'secrets.yaml');
  const plainFile = join(dataDir, 'plain.yaml');
  let first: RelayApp;
  let second: RelayApp;

  /** `switchboard catalog …` with the services of one of them; gives what it prints. */
  const command = async ({ app }: RelayApp, ...words: string[]): Promise<string> => {
    let printed = '';
    const catching = jest
      .spyOn(process.stdout, 'write')
      .mockImplementation((text) => ((printed += String(text)), true));
    const program = new Command().exitOverride();
    catalogCommands(program, (work) => work(app));
    await program.parseAsync(['catalog', ...words], { from: 'user' }).finally(() => catching.mockRestore());
    return printed;
  };

  beforeAll(async () => {
    first = await RelayApp.startEmpty({}, { SECRET_KEY: '1'.repeat(32), ...VARIABLES });
    await first.applyCatalog(wholeCatalog(first.upstream.url));
    await operate(first);
    writeFileSync(plainFile, await command(first, 'export', '--secrets-to', secretsFile));
    // Another service: it seals what it stores with a key of its own.
    second = await RelayApp.startEmpty({}, { SECRET_KEY: '2'.repeat(32), ...VARIABLES });
    await command(second, 'apply', secretsFile);
    await second.get(CatalogService).reload();
  });
  afterAll(async () => {
    await Promise.all([first.close(), second.close()]);
    removeDataDir(dataDir);
  });

  it('has what the file said and what was typed into the pages', () => {
    const plain = readFileSync(plainFile, 'utf8');
    for (const name of ODD_NAMES) expect([name, plain.split(name).length > 1]).toEqual([name, true]);
    for (const line of ['  - name: by-hand', '  - name: team', '  - name: Made by hand', '  - name: resting-model'])
      expect(plain).toContain(`${line}\n`);
    expect(plain).toContain('valid_from: 2099-05-01T08:00:00.000Z');
    expect(plain).toContain('key: { requests_per_minute: 1000, concurrency: 4 }');
    expect(plain).toContain(`[ "***", "***", env:${CREDENTIAL_VARIABLE} ]`);
  });

  it('comes out byte for byte as it went in', async () => {
    expect(await command(second, 'export')).toBe(readFileSync(plainFile, 'utf8'));
  });

  it('is all that the first file said: applied there, it changes nothing', async () => {
    const file = join(dataDir, 'whole.yaml');
    writeFileSync(file, wholeCatalog(first.upstream.url));
    expect(await command(second, 'apply', file)).toBe('nothing changed\n');
  });

  it('comes out so where the database sorts names by the rules of a language', async () => {
    for (const table of ['groups', 'models', 'channels'])
      await second.get(DataSource).query(`ALTER TABLE ${table} ALTER COLUMN name TYPE text COLLATE "und-x-icu"`);
    expect(await command(second, 'export')).toBe(readFileSync(plainFile, 'utf8'));
  });

  it('has its secrets in the one file and nowhere else', () => {
    const [plain, secrets] = [plainFile, secretsFile].map((file) => readFileSync(file, 'utf8'));
    for (const secret of ['12345', '*starred#secret:', ...TYPED_SECRETS, ...VENDORS.map(({ id }) => `secret-of-${id}`)])
      expect([secret, secrets!.includes(secret), plain!.includes(secret)]).toEqual([secret, true, false]);
    expect(secrets).not.toContain(VARIABLES[CREDENTIAL_VARIABLE]);
  });

  it.each(['plain', 'secrets'])('changes nothing where it came from (%s)', async (kind) => {
    expect(await command(first, 'apply', kind === 'plain' ? plainFile : secretsFile)).toBe('nothing changed\n');
  });

  const callable = ['by-hand', 'tiered', ...VENDORS.map(({ id }) => `over-${id}`), ...ODD_NAMES];

  it.each(callable)('answers a call of %s there', async (model) => {
    const { key } = await second.caller({ credit: '100000' });
    const before = first.upstream.requests.length;
    const response = await second.post('/v1/chat/completions', key, aRequest('chat-completions', { model }));
    expect([response.status, await response.text()]).toEqual([200, expect.stringContaining('"content"')]);
    expect(first.upstream.requests.length).toBe(before + 1);
  });

  it('offers there what can be called and nothing else', async () => {
    const { key } = await second.caller();
    const listed = await fetch(`${second.url}/v1/models`, { headers: { authorization: `Bearer ${key}` } });
    const { data } = (await listed.json()) as { data: { id: string }[] };
    expect(data.map(({ id }) => id).toSorted()).toEqual(callable.toSorted());
  });
});

/** Adds by hand what a file could have said: a group, a model whose prices change, a channel, usual limits. */
async function operate(relay: RelayApp): Promise<void> {
  const operator = (await operatorVisit(relay)).browser;
  const group = { name: 'team', multiplier: '1.250', models: 'tiered 0.9', choice: 'assigned', concurrency: '4' };
  expectSaved(await operator.submit('/admin/groups/new', group));
  await addModel(operator);
  await addChannel(operator, relay.upstream.url);
  const revision = /limits\/key".*?name="revision" value="([^"]+)"/s.exec(
    (await operator.get('/admin/settings/limits')).text,
  );
  const limits = { revision: revision?.[1] ?? '', callsPerMinute: '1,000', tokensPerMinute: '', concurrency: '4' };
  expectSaved(await operator.post('/admin/settings/limits/key', limits));
}

async function addModel(operator: PageVisitor): Promise<void> {
  const model = {
    displayName: 'Made by hand',
    contextWindow: '200,000',
    maxOutputTokens: '8000',
    groups: ['default', 'team'],
    capabilities: 'vision\nefforts: low,',
    'tier-0-from': '0',
    'tier-0-input': '3.00',
    'tier-0-output': '15',
  };
  expectSaved(await operator.submit('/admin/models/new', { ...model, name: 'by-hand', when: 'now' }));
  const page = await operator.get('/admin/models/by-hand');
  const revision = / name="revision" value="([^"]*)"/.exec(page.text)?.[1] ?? '';
  const later = { 'tier-0-output': '16', when: 'later', from: '2099-05-01T08:00' };
  expectSaved(await operator.post('/admin/models/by-hand', { ...model, ...later, revision }));
}

async function addChannel(operator: PageVisitor, baseUrl: string): Promise<void> {
  const typed = {
    name: 'Made by hand',
    protocol: 'messages',
    baseUrl,
    secret: TYPED_SECRETS[0]!,
    public: ['by-hand', 'by-hand'],
    upstream: ['vendor-1', 'vendor 2'],
    groups: ['default', 'team'],
    query: 'beta=true',
    headers: 'anthropic-beta: some-2026',
  };
  const form = channelFields(await operator.get('/admin/channels/new?protocol=messages'));
  const twice = await operator.post('/admin/channels/new', { ...form, ...typed, _act: 'credential' });
  const filled = { ...channelFields(twice), ...typed, secret: TYPED_SECRETS };
  expectSaved(await operator.post('/admin/channels/new', filled));
}

const expectSaved = ({ status, text }: PageResponse): void =>
  expect({ status, faults: text.match(/-error">.*?<\/p>/gs) ?? [] }).toEqual({ status: 303, faults: [] });
