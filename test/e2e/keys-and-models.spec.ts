import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import {
  expectError,
  expectIds,
  INVALID_REQUEST,
  INVALID_TOKEN,
  METHOD_NOT_ALLOWED,
  MODEL_NOT_FOUND,
  NOT_FOUND,
} from '../support/api-errors.js';
import { aRequest, PROTOCOLS, PATHS } from '../support/protocols.js';
import { ApiKeyService } from '../../src/keys/index.js';
import { parseUsd } from '../../src/platform/shared/index.js';
import { RelayApp, type TestCaller } from '../support/relay-app.js';
import { responseIn, type ProtocolEndpoint, gate, type JsonObject, waitFor } from '../support/scripted-upstream.js';

const SHELF = Array.from({ length: 25 }, (_, index) => `shelf-${String(index + 1).padStart(2, '0')}`);

/** A group of its own with 25 models: more than one page of Messages. */
const shelf = (baseUrl: string): string => `
groups:
  - { name: shelf, multiplier: 1 }
models:
${SHELF.map((name) => `  - { name: ${name}, context_window: 200000, max_output_tokens: 64000, groups: [shelf], prices: free }`).join('\n')}
channels:
  - { name: shelf, protocol: messages, base_url: "${baseUrl}", credentials: [x], groups: [shelf], models: { ${SHELF.map((name) => `${name}: up`).join(', ')} } }
`;

interface ModelList {
  readonly data: readonly (JsonObject & { readonly id: string })[];
  readonly has_more: boolean;
  readonly first_id: string | null;
  readonly last_id: string | null;
}

/** Which shape is asked for, and how. */
const SHAPES: readonly [string, Readonly<Record<string, string>>, ProtocolEndpoint][] = [
  ['nothing', {}, 'chat-completions'],
  ['anthropic-version', { 'anthropic-version': '2023-06-01' }, 'messages'],
  ['vendor-version', { 'vendor-version': '2023-06-01' }, 'messages'],
];

describe('key information', () => {
  let relay: RelayApp;
  beforeAll(async () => {
    relay = await RelayApp.start();
    await relay.applyCatalog(shelf(relay.upstream.url));
  });
  afterAll(() => relay.close());
  afterEach(() => relay.upstream.reset());

  const get = (path: string, { key }: Pick<TestCaller, 'key'>, headers: object = {}): Promise<Response> =>
    fetch(`${relay.url}${path}`, { headers: { authorization: `Bearer ${key}`, ...headers } });
  const list = async (path: string, caller: TestCaller, headers = {}): Promise<ModelList> => {
    const response = await get(path, caller, headers);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toMatch(/^application\/json/);
    expectIds(response);
    return (await response.json()) as ModelList;
  };
  const idsIn = ({ data }: ModelList): string[] => data.map(({ id }) => id);

  describe('the models (case 110)', () => {
    it.each(SHAPES)('are listed so that clients of every protocol can read them: with %s', async (_, headers) => {
      const caller = await relay.caller();
      for (const path of ['/v1/models', '/models', '/v1/v1/models', '/v1/models/']) {
        const models = await list(path, caller, headers);
        expect(models).toMatchObject({ object: 'list', has_more: false });
        expect([models.first_id, models.last_id]).toEqual([models.data[0]?.id, models.data.at(-1)?.id]);
        const m = models.data.find(({ id }) => id === 'm');
        expect(m).toEqual({
          id: 'm',
          object: 'model',
          created: expect.any(Number) as number,
          owned_by: 'tests',
          type: 'model',
          display_name: 'm',
          created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/) as string,
        });
        // Seconds since 1970 there, a date here: the same moment.
        expect(Math.floor(Date.parse(String(m?.['created_at'])) / 1000)).toBe(m?.['created']);
      }
    });

    it('are those of the group of the key', async () => {
      const usual = idsIn(await list('/v1/models', await relay.caller()));
      expect(usual.toSorted()).toEqual(['fee', 'free', 'm', 'only-chat', 'vendor/with-slash']);
      expect(idsIn(await list('/v1/models', await relay.caller({ group: 'saver' }))).toSorted()).toEqual([
        'm',
        'saver-only',
      ]);
      expect(idsIn(await list('/v1/models', await relay.caller({ group: 'shelf' }))).toSorted()).toEqual(SHELF);
    });

    it('are those that the key may use', async () => {
      const caller = await relay.caller({ models: ['m', 'only-chat', 'saver-only', 'nowhere'] });
      expect(idsIn(await list('/v1/models', caller)).toSorted()).toEqual(['m', 'only-chat']);
      expect((await get('/v1/models/m', caller)).status).toBe(200);
      for (const id of ['free', 'saver-only', 'nowhere'])
        await expectError('chat-completions', await get(`/v1/models/${id}`, caller), MODEL_NOT_FOUND, {
          param: 'model',
        });
    });

    it('come all at once, and by 20 where clients know pages', async () => {
      const caller = await relay.caller({ group: 'shelf' });
      expect(await list('/v1/models', caller)).toMatchObject({ data: { length: 25 }, has_more: false });
      for (const [, headers] of SHAPES.slice(1))
        expect(await list('/v1/models', caller, headers)).toMatchObject({ data: { length: 20 }, has_more: true });
      const [, headers] = SHAPES[1] ?? [];
      expect(await list('/v1/models?limit=1000', caller, headers)).toMatchObject({
        data: { length: 25 },
        has_more: false,
      });
    });

    it.each(SHAPES)('can be leafed through, forwards and backwards: with %s', async (_, headers) => {
      const caller = await relay.caller({ group: 'shelf' });
      const all = idsIn(await list('/v1/models?limit=1000', caller, headers));
      expect(all.toSorted()).toEqual(SHELF);
      const forwards: string[][] = [];
      for (let query = ''; ;) {
        const page = await list(`/v1/models?limit=10${query}`, caller, headers);
        forwards.push(idsIn(page));
        if (!page.has_more) break;
        query = `&after_id=${page.last_id}`;
      }
      expect(forwards).toEqual([all.slice(0, 10), all.slice(10, 20), all.slice(20)]);
      const before = await list(`/v1/models?limit=10&before_id=${all[15]}`, caller, headers);
      expect([idsIn(before), before.has_more]).toEqual([all.slice(5, 15), true]);
      const start = await list(`/v1/models?limit=10&before_id=${all[5]}`, caller, headers);
      expect([idsIn(start), start.has_more]).toEqual([all.slice(0, 5), false]);
      const nothing = await list(`/v1/models?after_id=${all[24]}`, caller, headers);
      expect(nothing).toMatchObject({ data: [], has_more: false, first_id: null, last_id: null });
    });

    it.each(SHAPES)(
      'cannot be leafed through from a model that is not there: with %s',
      async (_, headers, protocol) => {
        const caller = await relay.caller({ group: 'shelf' });
        // `m` exists, but not for this key.
        for (const [query, param] of [
          ['after_id=nowhere', 'after_id'],
          ['before_id=nowhere', 'before_id'],
          ['after_id=m', 'after_id'],
          ['limit=0', 'limit'],
          ['limit=1001', 'limit'],
          ['limit=ten', 'limit'],
        ] as const) {
          const response = await get(`/v1/models?${query}`, caller, headers);
          await expectError(protocol, response, INVALID_REQUEST, { param });
        }
      },
    );

    it.each(SHAPES)('can be asked for one by one, slashes and all: with %s', async (_, headers, protocol) => {
      const caller = await relay.caller();
      for (const id of ['m', 'vendor%2Fwith-slash', 'vendor%2fwith-slash', 'vendor/with-slash', 'vendor/with-slash/']) {
        const response = await get(`/v1/models/${id}`, caller, headers);
        expect(response.status).toBe(200);
        expectIds(response);
        const name = id.startsWith('m') ? 'm' : 'vendor/with-slash';
        expect(await response.json()).toMatchObject({ id: name, object: 'model', type: 'model', display_name: name });
      }
      for (const id of ['nowhere', 'vendor%2Fnowhere', 'vendor', 'saver-only', 'm/m', '%zz', 'x'.repeat(300)]) {
        const response = await get(`/v1/models/${id}`, caller, headers);
        const message = await expectError(
          protocol,
          response,
          MODEL_NOT_FOUND,
          protocol === 'messages' ? {} : { param: 'model' },
        );
        expect(message).toContain(decodable(id));
      }
    });

    it('are found by the vendors’ own clients', async () => {
      const { key } = await relay.caller({ group: 'shelf' });
      const anthropic = new Anthropic({ baseURL: relay.url, apiKey: key, maxRetries: 0 });
      const found: string[] = [];
      for await (const model of anthropic.models.list({ limit: 10 })) found.push(model.id);
      expect(found.toSorted()).toEqual(SHELF);
      const openai = new OpenAI({ baseURL: `${relay.url}/v1`, apiKey: (await relay.caller()).key, maxRetries: 0 });
      const listed: string[] = [];
      for await (const model of openai.models.list()) listed.push(model.id);
      expect(listed).toContain('vendor/with-slash');
      expect(await openai.models.retrieve('vendor/with-slash')).toMatchObject({
        id: 'vendor/with-slash',
        owned_by: '',
      });
      await expect(openai.models.retrieve('nowhere')).rejects.toMatchObject({ status: 404, code: 'model_not_found' });
      await expect(anthropic.models.retrieve('nowhere')).rejects.toBeInstanceOf(Anthropic.NotFoundError);
    });

    it('require a valid key, and reading them is not a call', async () => {
      const caller = await relay.caller();
      await list('/v1/models', caller);
      for (const [, headers, protocol] of SHAPES)
        for (const path of ['/v1/models', '/v1/models/m', '/v1/key', '/v1/generations/req_1'])
          await expectError(protocol, await get(path, { key: 'sk-nobody' }, headers), INVALID_TOKEN);
      expect(await relay.calls(caller)).toEqual([]);
    });
  });

  describe('/v1/key', () => {
    it('says what the key has used, what it has left, and what is in the wallet', async () => {
      const caller = await relay.caller({ credit: '10', quota: '1' });
      const ask = async (): Promise<unknown> => (await get('/v1/key', caller)).json();
      const fresh = {
        object: 'key',
        name: 'test key',
        group: 'default',
        quota_usd: '1',
        used_usd: '0',
        held_usd: '0',
        quota_left_usd: '1',
        budgets: { daily: null, weekly: null, monthly: null },
        limits: { requests_per_minute: null, tokens_per_minute: null, concurrency: null },
        wallet: { balance_usd: '10', held_usd: '0', owed_usd: '0' },
      };
      expect(await ask()).toEqual(fresh);
      const held = gate();
      relay.upstream.script([waitFor(held), responseIn('responses')]);
      const running = relay.post('/v1/responses', caller.key, aRequest('responses', { model: 'fee' }));
      await relay.upstream.nextRequest();
      const holding = { held_usd: '0.02', quota_left_usd: '0.98' };
      expect(await ask()).toEqual({ ...fresh, ...holding, wallet: { ...fresh.wallet, held_usd: '0.02' } });
      held.open();
      await (await running).text();
      const used = { used_usd: '0.02', quota_left_usd: '0.98' };
      expect(await ask()).toEqual({ ...fresh, ...used, wallet: { ...fresh.wallet, balance_usd: '9.98' } });
    });

    it('tells of the limits that hold of it: its own, else the usual ones', async () => {
      const caller = await relay.caller();
      const limits = async (): Promise<unknown> =>
        ((await (await get('/v1/key', caller)).json()) as { limits: JsonObject }).limits;
      await relay.applyCatalog('limits: { key: { requests_per_minute: 600, concurrency: 50 } }');
      try {
        expect(await limits()).toEqual({ requests_per_minute: 600, tokens_per_minute: null, concurrency: 50 });
        await relay.get(ApiKeyService).setLimits(caller.keyId, { requestsPerMinute: 60, tokensPerMinute: 9000 });
        expect(await limits()).toEqual({ requests_per_minute: 60, tokens_per_minute: 9000, concurrency: 50 });
      } finally {
        await relay.applyCatalog('limits: { key: {} }');
      }
    });

    it('tells of its budgets, which limit calls, and can be raised between two of them', async () => {
      const caller = await relay.caller();
      const keys = relay.get(ApiKeyService);
      const call = async (): Promise<number> => {
        const response = await relay.post('/v1/responses', caller.key, aRequest('responses', { model: 'fee' }));
        await response.text();
        return response.status;
      };
      const daily = async (): Promise<unknown> => {
        const body = (await (await get('/v1/key', caller)).json()) as { budgets: JsonObject };
        return body.budgets['daily'];
      };
      const left = (limit: string, used: string, rest: string): object => ({
        limit_usd: limit,
        used_usd: used,
        held_usd: '0',
        left_usd: rest,
        resets_at: expect.stringMatching(/^2\d{3}-\d\d-\d\dT00:00:00\.000Z$/) as string,
      });
      // A call costs $0.02.
      await keys.setBudgets(caller.keyId, { daily: parseUsd('0.03') });
      expect([await call(), await call()]).toEqual([200, 429]);
      expect(await daily()).toEqual(left('0.03', '0.02', '0.01'));
      await keys.setBudgets(caller.keyId, { daily: parseUsd('0.04') });
      expect([await call(), await call()]).toEqual([200, 429]);
      expect(await daily()).toEqual(left('0.04', '0.04', '0'));
      await expect(keys.setBudgets(caller.keyId, { daily: parseUsd('0.03') })).rejects.toThrow('$0.04 is used');
      await keys.setBudgets(caller.keyId, { daily: null });
      expect([await call(), await daily()]).toEqual([200, null]);
      expect(await relay.ledger()).toEqual({ exact: true, differences: [] });
    });

    it('says null where there is no quota, and the model group that calls are billed under', async () => {
      const caller = await relay.caller({ credit: '0', group: 'saver' });
      expect(await (await get('/key', caller)).json()).toMatchObject({
        group: 'saver',
        quota_usd: null,
        quota_left_usd: null,
        wallet: { balance_usd: '0', held_usd: '0' },
      });
    });
  });

  describe('the version of Messages', () => {
    it.each<[string, Record<string, string>, string]>([
      ['vendor-version alone', { 'vendor-version': '2023-06-01' }, '2023-06-01'],
      ['another vendor-version', { 'vendor-version': '2026-10-21' }, '2026-10-21'],
      ['anthropic-version alone', { 'anthropic-version': '2026-10-21' }, '2026-10-21'],
      ['both', { 'vendor-version': '2023-06-01', 'anthropic-version': '2026-10-21' }, '2026-10-21'],
      ['neither', {}, '2023-06-01'],
    ])('goes up as anthropic-version, and only so: from %s', async (_, headers, version) => {
      const { key } = await relay.caller();
      for (const stream of [false, true]) {
        const response = await relay.post('/v1/messages', key, aRequest('messages', { stream }), headers);
        expect(response.status).toBe(200);
        await response.text();
        const { headers: sent } = await relay.upstream.nextRequest();
        expect(sent['anthropic-version']).toBe(version);
        expect(sent).not.toHaveProperty('vendor-version');
      }
    });

    it.each(PROTOCOLS.filter((protocol) => protocol !== 'messages'))('does not go up to %s', async (protocol) => {
      const { key } = await relay.caller();
      const headers = { 'vendor-version': '2023-06-01', 'anthropic-version': '2023-06-01' };
      expect((await relay.post(PATHS[protocol], key, aRequest(protocol), headers)).status).toBe(200);
      const { headers: sent } = await relay.upstream.nextRequest();
      expect(sent).not.toHaveProperty('vendor-version');
      expect(sent).not.toHaveProperty('anthropic-version');
    });

    it('named by vendor-version alone makes every error one of Messages', async () => {
      const { key } = await relay.caller();
      const version = { 'vendor-version': '2023-06-01' };
      const post = (path: string, body: object | string, by = key): Promise<Response> =>
        relay.post(path, by, body, version);
      const unknown = aRequest('messages', { model: 'nowhere' });
      for (const path of ['/v1/messages', '/messages', '/v1/v1/messages?beta=true', '/', '/v1']) {
        await expectError('messages', await post(path, '{'), INVALID_REQUEST);
        await expectError('messages', await post(path, unknown), MODEL_NOT_FOUND);
        await expectError('messages', await post(path, unknown, 'sk-nobody'), INVALID_TOKEN);
      }
      await expectError('messages', await post('/v1/nowhere', {}), NOT_FOUND);
      await expectError('messages', await post('/v1/nowhere', {}, 'sk-nobody'), INVALID_TOKEN);
      await expectError('messages', await get('/v1/messages', { key }, version), METHOD_NOT_ALLOWED);
    });
  });
});

/** What a path says: escapes that are none stand for themselves. */
function decodable(path: string): string {
  return path === '%zz' ? path : decodeURIComponent(path);
}
