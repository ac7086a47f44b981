import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CatalogService, FREE_PRICING } from '../../src/catalog/index.js';
import { CatalogExport, ChannelDirectory, DEFAULT_TIMEOUTS, InvalidCatalog } from '../../src/catalog/channels/index.js';
import { CATALOG, served, UPSTREAM_SECRET, useCatalog } from '../support/catalog-world.js';

/** What belongs to no name, beside it. */
const USUAL_LIMITS = `
limits:
  key: { requests_per_minute: 60, tokens_per_minute: 100000, concurrency: 4 }
  address: { concurrency: 10 }
`;

describe('the catalog', () => {
  const world = useCatalog();
  const { apply, boot, exported, priceVersions, reopen, version } = world;

  it('is what the applied file says, exactly', async () => {
    const program = await boot();
    expect(await apply(program, CATALOG)).toEqual([
      'group saver: added',
      'model big: added',
      'model small: added',
      'channel main: added',
      'channel spare: added',
    ]);
    await program.get(CatalogService).reload();
    const { groups, models } = program.get(CatalogService).current();
    expect(groups.get('saver')).toEqual({
      name: 'saver',
      multiplier: 800_000n,
      modelMultipliers: new Map(),
      choice: 'everyone',
      description: 'Slower channels at a discount',
      limits: { requestsPerMinute: 600, concurrency: 20 },
    });
    expect(groups.get('default')?.limits).toEqual({});
    expect(models.get('big')).toMatchObject({
      displayName: 'Big One',
      ownedBy: 'acme',
      contextWindow: 400_000,
      maxOutputTokens: 128_000,
      groups: ['default', 'saver'],
      capabilities: { vision: true, tools: true, thinkingMode: 'budget' },
      enabled: true,
      createdAt: expect.any(Number),
      priceVersionId: expect.stringMatching(/^prc_/),
      pricing: { costsNothing: false, requestFee: 1n, effortMultipliers: new Map([['high', 1_500_000n]]) },
    });
    expect(Math.abs((models.get('big')?.pricesSince ?? 0) - Date.now())).toBeLessThan(60_000);
    expect(models.get('big')?.pricing.tiers[1]?.prices.output).toBe(15_123_456_789n);
    expect(models.get('small')?.pricing).toEqual(FREE_PRICING);
  });

  it('has the channels of the file with their credentials, those of the environment included', async () => {
    const program = await boot();
    await apply(program, CATALOG);
    const directory = program.get(ChannelDirectory);
    await program.get(CatalogService).reload();
    const [main] = directory.serving('saver', 'big');
    expect(main).toMatchObject({
      id: expect.stringMatching(/^chn_/),
      name: 'main',
      protocol: 'responses',
      baseUrl: 'https://upstream.example/v1',
      auth: 'bearer',
      query: { 'api-version': '2026-01-01' },
      models: new Map([
        ['big', ['big-2026-08']],
        ['small', ['small-a', 'small-b']],
      ]),
      tier: 2,
      weight: 50,
      maxConcurrency: 200,
      timeouts: { ...DEFAULT_TIMEOUTS, idleMs: 60_000 },
      headers: { 'x-extra': 'value' },
      flags: { includeUsage: true, maxOutput: 8192, efforts: ['low', 'high'] },
      unavailableReason: undefined,
    });
    expect(main?.credentials.map(({ secret }) => secret.reveal())).toEqual(['sk-main', UPSTREAM_SECRET]);
    expect(directory.serving('default', 'small').map(({ name }) => name)).toEqual(['main', 'spare']);
    expect(served(directory, 'saver')).toEqual(['big', 'small']);
    expect(served(directory, 'default')).toEqual(['big', 'small']);
    expect(served(directory, 'nobody')).toEqual([]);
  });

  it('keeps upstream secrets out of the database in the clear', async () => {
    await apply(await boot(), CATALOG);
    const { rows } = await world.sql.query('SELECT row_to_json(channels)::text AS row FROM channels');
    expect(rows.map(({ row }) => row).join()).not.toContain(UPSTREAM_SECRET);
  });

  it('does not change when the same file is applied again', async () => {
    const program = await boot();
    await apply(program, CATALOG);
    const before = await version();
    expect(await apply(program, CATALOG)).toEqual([]);
    expect(await apply(program, CATALOG, true)).toEqual([]);
    expect(await version()).toBe(before);
    expect(await priceVersions('big')).toBe(1);
  });

  it('does not change when its own export is applied', async () => {
    const program = await boot();
    await apply(program, CATALOG + USUAL_LIMITS);
    const text = await exported(program);
    expect(text).toContain('    limits: { requests_per_minute: 600, concurrency: 20 }\n');
    expect(text).toContain(
      '\nlimits:\n  key: { requests_per_minute: 60, tokens_per_minute: 100000, concurrency: 4 }\n  address: { concurrency: 10 }\n',
    );
    expect(await apply(program, text)).toEqual([]);
    expect(await apply(program, text, true)).toEqual([]);
    expect(await exported(program)).toBe(text);
  });

  it('is exported without secrets, and can be carried to another database with them', async () => {
    const program = await boot();
    await apply(program, CATALOG);
    const { text, withSecrets } = await program.get(CatalogExport).export();
    expect(text).toContain('env:MAIN_KEY');
    expect(text).not.toContain(UPSTREAM_SECRET);
    await reopen();
    const elsewhere = await boot();
    await expect(apply(elsewhere, text)).rejects.toThrow('The channel main has no stored secret for "***".');
    expect(await apply(elsewhere, withSecrets())).toContain('channel main: added');
    expect(await exported(elsewhere)).toBe(text);
  });

  it('has usual limits that a file replaces by kind, whole, and lifts where it names none, with prune', async () => {
    const program = await boot();
    await apply(program, CATALOG);
    expect(await apply(program, USUAL_LIMITS)).toEqual([
      'limits of a key: requests_per_minute (none) → 60',
      'limits of a key: tokens_per_minute (none) → 100000',
      'limits of a key: concurrency (none) → 4',
      'limits of an address: concurrency (none) → 10',
    ]);
    const usual = async (): Promise<unknown> => {
      await program.get(CatalogService).reload();
      return program.get(CatalogService).current().defaultLimits;
    };
    const ofKey = { requestsPerMinute: 60, tokensPerMinute: 100_000, concurrency: 4 };
    expect(await usual()).toEqual({ key: ofKey, account: {}, address: { concurrency: 10 } });
    const before = await version();
    expect(await apply(program, 'groups: []')).toEqual([]);
    expect(await version()).toBe(before);
    expect(await apply(program, 'limits: { key: { concurrency: 8 }, account: { requests_per_minute: 600 } }')).toEqual([
      'limits of a key: requests_per_minute 60 → (none)',
      'limits of a key: tokens_per_minute 100000 → (none)',
      'limits of a key: concurrency 4 → 8',
      'limits of an account: requests_per_minute (none) → 600',
    ]);
    expect(await version()).toBe(before + 1);
    const limits = { key: { concurrency: 8 }, account: { requestsPerMinute: 600 }, address: { concurrency: 10 } };
    expect(await usual()).toEqual(limits);
    expect(await apply(program, 'limits: { key: {}, account: }')).toEqual(['limits of a key: concurrency 8 → (none)']);
    expect(await apply(program, CATALOG, true)).toEqual([
      'limits of an account: requests_per_minute 600 → (none)',
      'limits of an address: concurrency 10 → (none)',
    ]);
    expect(await usual()).toEqual({ key: {}, account: {}, address: {} });
    expect(await exported(program)).not.toContain('\nlimits:');
  });

  it('tells what changed, an entry being replaced whole', async () => {
    const program = await boot();
    await apply(program, CATALOG);
    const text = `
groups: [{ name: saver, multiplier: 0.7 }]
models:
  - { name: small, display_name: Small, context_window: 9000, max_output_tokens: 1000, prices: [{ input: 1, output: 2 }] }
channels:
  - { name: main, protocol: responses, base_url: "https://other.example", credentials: [env:MAIN_KEY], models: [big] }
`;
    expect(await apply(program, text)).toEqual([
      'group saver: multiplier 0.8 → 0.7',
      'group saver: description Slower channels at a discount → (none)',
      'group saver: requests_per_minute 600 → (none)',
      'group saver: concurrency 20 → (none)',
      'model small: display_name small → Small',
      'model small: context_window 8000 → 9000',
      'model small: prices free → input 1, output 2',
      'channel main: base_url https://upstream.example/v1 → https://other.example',
      'channel main: query changed',
      'channel main: models big as big-2026-08, small as small-a or small-b → big',
      'channel main: groups default, saver → default',
      'channel main: tier 2 → 1',
      'channel main: weight 50 → 100',
      'channel main: max_concurrency 200 → (none)',
      'channel main: idle_ms 60000 → 300000',
      'channel main: headers changed',
      'channel main: flags efforts ["low","high"], includeUsage, maxOutput 8192 → (none)',
      'channel main: cost of big input 1, cache_read 0.100000001, output 8; from 272000 prompt tokens input 2, output 12; request_fee 0.002 → (none)',
      'channel main: cost of small 0 × the price → (none)',
      'channel main: credential 2 removed',
    ]);
  });

  it('never tells a secret that was replaced by another', async () => {
    const program = await boot();
    await apply(program, CATALOG);
    const lines = await apply(program, CATALOG.replace(UPSTREAM_SECRET, 'sk-upstream-secret-2'));
    expect(lines).toEqual(['channel main: credential 2 replaced']);
  });

  it('keeps the secret where the file says ***, and refuses it where there is none', async () => {
    const program = await boot();
    await apply(program, CATALOG);
    await apply(program, CATALOG.replace(UPSTREAM_SECRET, '***').replace('weight: 50', 'weight: 60'));
    await program.get(CatalogService).reload();
    const [main] = program.get(ChannelDirectory).serving('saver', 'big');
    expect(main?.weight).toBe(60);
    expect(main?.credentials.map(({ secret }) => secret.reveal())).toEqual(['sk-main', UPSTREAM_SECRET]);
    await expect(
      apply(program, CATALOG.replace('name: main', 'name: other').replace(UPSTREAM_SECRET, '***')),
    ).rejects.toThrow('channel other');
    await expect(apply(program, CATALOG.replace(UPSTREAM_SECRET, '***, ***'))).rejects.toThrow('channel main');
  });

  it('has a new price version when the price differs, and none when only its spelling does', async () => {
    const program = await boot();
    await apply(program, CATALOG);
    await apply(program, CATALOG.replace('input: 1.25,', 'input: 1.250, reasoning: 10.0,'));
    expect(await priceVersions('big')).toBe(1);
    const lines = await apply(program, CATALOG.replace('input: 1.25,', 'input: 1.5,'));
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(/^model big: prices input 1\.25, .* → input 1\.5, /);
    expect(await priceVersions('big')).toBe(2);
    await program.get(CatalogService).reload();
    expect(program.get(CatalogService).current().models.get('big')?.pricing.tiers[0]?.prices.input).toBe(
      1_500_000_000n,
    );
  });

  it('never changes a price version once made', async () => {
    await apply(await boot(), CATALOG);
    await expect(world.sql.query("UPDATE price_versions SET pricing = '{}'")).rejects.toThrow('append-only');
    await expect(world.sql.query('DELETE FROM price_versions')).rejects.toThrow('append-only');
  });

  it('disables, with prune, what the file omits, and re-enables it when it is named again', async () => {
    const program = await boot();
    await apply(program, CATALOG);
    const rest = 'models: [{ name: small, context_window: 8000, max_output_tokens: 1000, prices: free }]';
    expect(await apply(program, rest)).toEqual([]);
    expect(await apply(program, rest, true)).toEqual([
      'group saver: disabled',
      'model big: disabled',
      'channel main: disabled',
      'channel spare: disabled',
    ]);
    await program.get(CatalogService).reload();
    const { groups, models } = program.get(CatalogService).current();
    expect([...groups.keys()]).toEqual(['default']);
    expect([models.get('big')?.enabled, models.get('small')?.enabled]).toEqual([false, true]);
    expect(program.get(ChannelDirectory).all()).toEqual([]);
    expect(await exported(program)).not.toContain('big');
    expect(await apply(program, CATALOG)).toEqual([
      'group saver: re-enabled',
      'model big: re-enabled',
      'channel main: re-enabled',
      'channel spare: re-enabled',
    ]);
  });

  it('does not resolve references to what prune is about to disable', async () => {
    const program = await boot();
    await apply(program, CATALOG);
    const channels = CATALOG.slice(CATALOG.indexOf('channels:'));
    expect(await apply(program, channels)).toEqual([]);
    await expect(apply(program, channels, true)).rejects.toThrow(
      'refers to the model "big", which is not in this file',
    );
  });

  it('stays as it was when any part of a file is refused', async () => {
    const program = await boot();
    await apply(program, CATALOG);
    const [before, text] = [await version(), await exported(program)];
    const changed = CATALOG.replace('0.8', '0.5').replace('input: 1.25', 'input: 9');
    await expect(apply(program, changed.replace(UPSTREAM_SECRET, '***, ***'))).rejects.toThrow('channel main');
    await expect(apply(program, changed.replace('protocol: responses', 'protocol: soap'))).rejects.toThrow(
      InvalidCatalog,
    );
    expect(await version()).toBe(before);
    expect(await exported(program)).toBe(text);
    expect(await priceVersions('big')).toBe(1);
  });

  it('takes files that are applied at the same moment one after the other', async () => {
    const [one, other] = await Promise.all([boot(), boot()]);
    const prices = Array.from({ length: 10 }, (_, index) => `input: ${index + 2},`);
    await apply(one, CATALOG);
    const results = await Promise.all(
      prices.map((price, index) => apply(index % 2 ? one : other, CATALOG.replace('input: 1.25,', price))),
    );
    expect(results.every((lines) => lines.length === 1)).toBe(true);
    expect(await priceVersions('big')).toBe(11);
    expect(await version()).toBe(1 + 1 + prices.length);
    const last = results.map(([line]) => line ?? '');
    await one.get(CatalogService).reload();
    const inForce = one.get(CatalogService).current().models.get('big')?.pricing.tiers[0]?.prices.input ?? 0n;
    // Each change names what it replaced: only the last one's price was never replaced.
    expect(last.filter((line) => line.includes(`prices input ${inForce / 1_000_000_000n},`))).toEqual([]);
  });

  it('can be each of the examples, and all of them together', async () => {
    const program = await boot();
    const folder = join(import.meta.dirname, '../../examples');
    const files = readdirSync(folder).toSorted();
    expect(files).toEqual(['anthropic.yaml', 'gemini.yaml', 'ollama.yaml', 'openai.yaml', 'openrouter.yaml']);
    for (const file of files) {
      const lines = await apply(program, readFileSync(join(folder, file), 'utf8'));
      expect(lines.length).toBeGreaterThan(2);
      expect(lines.every((line) => line.endsWith(': added'))).toBe(true);
    }
    expect(await apply(program, await exported(program), true)).toEqual([]);
  });
});
