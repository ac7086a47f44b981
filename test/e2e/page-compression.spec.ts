import { DataSource } from 'typeorm';
import { get } from 'node:http';
import { newId } from '../../src/platform/shared/index.js';
import { aCallRow } from '../support/call-rows.js';
import { EMPTY, hidden, secretOn } from '../support/key-pages.js';
import type { PageVisitor } from '../support/page-visitor.js';
import { RelayApp, type TestCaller } from '../support/relay-app.js';
import { SeededRandom } from '../support/seeded-random.js';
import { signedIn } from '../support/signed-in.js';

const LOG = '/usage-logs/common';
const MAX_LOG_BYTES = 12_000;
const MODELS = ['gpt-5.5', 'gpt-5.4-mini', 'claude-sonnet-5-5', 'gemini-3.8-flash', 'grok-4'];

describe('the compression of pages', () => {
  let relay: RelayApp;
  let ann: TestCaller;
  let browser: PageVisitor;

  const encodingOf = async (path: string, headers: Record<string, string> = {}): Promise<string | null> =>
    (await browser.get(path, { 'accept-encoding': 'gzip, br', ...headers })).headers.get('content-encoding');
  /** Bytes of a body as sent. */
  const sizeOf = (path: string, encoding: string, { cookies } = browser): Promise<number> =>
    new Promise((resolve, reject) => {
      const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
      get(relay.url + path, { headers: { cookie, 'accept-encoding': encoding } }, (response) => {
        let bytes = 0;
        response.on('data', (chunk: Buffer) => (bytes += chunk.length)).on('end', () => resolve(bytes));
      }).on('error', reject);
    });

  beforeAll(async () => {
    relay = await RelayApp.start();
    ann = await relay.caller({ credit: '10' });
    browser = await signedIn(relay, ann.accountId);
    for (let index = 0; index < 50; index += 1) {
      const at = Date.now() - index * 61_000;
      await aCallRow(relay.get(DataSource), {
        id: newId('req', at),
        createdAt: new Date(at).toISOString(),
        accountId: ann.accountId,
        keyId: ann.keyId,
        promptTokens: 1000 + index * 37,
        completionTokens: 100 + index * 13,
        cost: BigInt(1_234_567 + index * 98_765),
      });
    }
  });
  afterAll(() => relay.close());

  it.each([
    ['gzip, deflate, br', 'br'],
    ['gzip', 'gzip'],
    ['identity', null],
    ['br;q=0', null],
  ])('uses an encoding that the client accepts: %s', async (accepted, encoding) => {
    const { headers, text } = await browser.get(LOG, { 'accept-encoding': accepted });
    expect(headers.get('content-encoding')).toBe(encoding);
    expect(headers.get('vary')).toContain('accept-encoding');
    expect(text).toContain('</html>');
  });

  it('sends a log of 50 calls in at most 12 kB', async () => {
    expect(await sizeOf(LOG, 'identity')).toBeGreaterThan(5 * MAX_LOG_BYTES);
    for (const encoding of ['br', 'gzip']) expect(await sizeOf(LOG, encoding)).toBeLessThanOrEqual(MAX_LOG_BYTES);
  });

  it('sends a log with a month of five models by model in at most 12 kB', async () => {
    const owner = await relay.caller({ credit: '10' });
    const visitor = await signedIn(relay, owner.accountId);
    const chance = new SeededRandom(7);
    const sql = relay.get(DataSource);
    await sql.query(`SELECT create_call_partitions(now() - interval '30 days', 2)`);
    for (let index = 0; index < 29 * MODELS.length; index += 1) {
      const at = Date.now() - Math.floor((index / MODELS.length + chance.next()) * 86_400_000);
      const promptTokens = Math.floor(chance.next() * 90_000);
      const completionTokens = Math.floor(chance.next() * 4000);
      await aCallRow(sql, {
        id: newId('req', at),
        createdAt: new Date(at).toISOString(),
        accountId: owner.accountId,
        keyId: owner.keyId,
        model: MODELS[index % MODELS.length]!,
        promptTokens,
        completionTokens,
        cost: BigInt(promptTokens) * 1250n + BigInt(completionTokens) * 10_000n,
        firstTokenMs: 200 + Math.floor(chance.next() * 4000),
      });
    }
    const page = `${LOG}?range=30d&by=model&chart=cost`;
    const { text } = await visitor.get(page);
    expect(text).toContain('>Other</th>');
    expect(text.match(/<a href="[^"]*" tabindex="-1">/g)!.length).toBeGreaterThan(25);
    expect(await sizeOf(page, 'br', visitor)).toBeLessThanOrEqual(MAX_LOG_BYTES);
  });

  it.each([
    ['same-origin', 'br'],
    ['none', 'br'],
    ['same-site', null],
    ['cross-site', null],
  ])('depends on where the request comes from: %s', async (site, encoding) => {
    expect(await encodingOf(LOG, { 'sec-fetch-site': site })).toBe(encoding);
  });

  it('is left out on pages with a secret', async () => {
    expect(await encodingOf('/keys/new')).toBe('br');
    const once = hidden(await browser.get('/keys/new'), '_once');
    const accepting = { 'accept-encoding': 'gzip, br' };
    const created = await browser.post('/keys/new', { ...EMPTY, _once: once, name: 'ci' }, accepting);
    expect(secretOn(created)).not.toBe('');
    expect(created.headers.get('content-encoding')).toBeNull();
    expect(await encodingOf('/forgot')).toBeNull();
  });
});
