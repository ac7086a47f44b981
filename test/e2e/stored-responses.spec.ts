import OpenAI from 'openai';
import { DataSource } from 'typeorm';
import { ChannelDirectory } from '../../src/catalog/channels/index.js';
import { ApiKeyService } from '../../src/keys/index.js';
import { newId, Secret } from '../../src/platform/shared/index.js';
import { StoredResponses } from '../../src/relay/stored-responses/index.js';
import { expectError, INVALID_TOKEN, NOT_FOUND } from '../support/api-errors.js';
import { catalogFor, RelayApp, type TestCaller } from '../support/relay-app.js';
import {
  chatResponse,
  errorResponse,
  type JsonObject,
  jsonAnswer,
  responsesResponse,
} from '../support/scripted-upstream.js';

const FOREIGN_MODEL = '  - { name: foreign, context_window: 200000, max_output_tokens: 64000, prices: free }';
const ID = 'resp_019a9d3c4d5e7abc89abcdef01234567';
const INPUT = [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hello' }] }];
const RESPONSE = {
  id: ID,
  object: 'response',
  status: 'completed',
  output: [{ type: 'message', id: 'msg_1', role: 'assistant', status: 'completed', content: [] }],
};

/** Besides a second account at the vendor of the first channel, and a model that only an upstream of Chat Completions has. */
const catalog = (url: string): string => `${catalogFor(url).replace('channels:', `${FOREIGN_MODEL}\nchannels:`)}
  - name: chat-foreign
    protocol: chat-completions
    base_url: ${url}
    credentials: [upstream-secret-of-chat-foreign]
    models: { foreign: foreign }
  - name: responses-twin
    protocol: responses
    base_url: ${url}
    credentials: [upstream-secret-of-the-twin]
    groups: [default, saver]
    models: { m: vendor-m-2026, free: vendor-free }
`;

describe('responses that are kept', () => {
  let relay: RelayApp;
  let ann: TestCaller;
  beforeAll(async () => {
    relay = await RelayApp.start();
    await relay.applyCatalog(catalog(relay.upstream.url));
  });
  afterAll(() => relay.close());
  beforeEach(async () => {
    ann = await relay.caller();
  });
  afterEach(() => relay.upstream.reset());

  const ask = (method: string, path: string, { key }: Pick<TestCaller, 'key'> = ann): Promise<Response> =>
    fetch(`${relay.url}/v1/responses${path}`, { method, headers: { authorization: `Bearer ${key}` } });
  const create = (body: object, { key } = ann): Promise<Response> =>
    relay.post('/v1/responses', key, { model: 'free', input: 'Hello', ...body });
  const keepHere = async (caller = ann): Promise<void> => {
    const { accountId, keyId, key } = caller;
    await relay.get(StoredResponses).store(
      { accountId, keyId, secret: new Secret(key) },
      {
        id: ID,
        callId: newId('req', Date.now()),
        channelId: 'chn_foreign',
        credentialId: null,
        itemIds: ['msg_1'],
        content: { input: JSON.stringify(INPUT), response: JSON.stringify(RESPONSE) },
      },
    );
  };
  const silentKey = async (): Promise<TestCaller> => {
    const { accountId } = ann;
    const { id, secret } = await relay.get(ApiKeyService).create({ accountId, name: 'silent', neverStores: true });
    return { ...ann, keyId: id, key: secret.reveal() };
  };
  const credentials = (): unknown => relay.upstream.requests.map(({ headers }) => headers.authorization);
  const rows = (): Promise<readonly JsonObject[]> =>
    relay.get(DataSource).query('SELECT * FROM stored_answers WHERE account_id = $1', [ann.accountId]);

  describe('here', () => {
    it('are given, listed and deleted as the SDK asks for them', async () => {
      await keepHere();
      const client = new OpenAI({ apiKey: ann.key, baseURL: `${relay.url}/v1`, maxRetries: 0 });
      expect(await client.responses.retrieve(ID)).toMatchObject({ ...RESPONSE, output_text: '' });
      const page = await client.responses.inputItems.list(ID);
      expect(page.data).toEqual([expect.objectContaining({ ...INPUT[0], id: expect.any(String) as string })]);
      expect(page.has_more).toBe(false);
      await client.responses.delete(ID);
      await expect(client.responses.retrieve(ID)).rejects.toMatchObject({ status: 404 });
      expect(relay.upstream.requests).toEqual([]);
    });

    it('say that they were deleted, and how they are worded: JSON', async () => {
      await keepHere();
      const deleted = await ask('DELETE', `/${ID}`);
      expect(deleted.headers.get('content-type')).toMatch(/^application\/json/);
      expect(await deleted.json()).toEqual({ id: ID, object: 'response', deleted: true });
      expect(await rows()).toEqual([]);
    });

    it('are found under any form of the address', async () => {
      await keepHere();
      const response = await fetch(`${relay.url}/responses/${ID}/?x=1`, { headers: { 'x-api-key': ann.key } });
      expect(await response.json()).toEqual(RESPONSE);
    });

    it('are complete: nothing of them can be cancelled or streamed again', async () => {
      await keepHere();
      const cancelled = await ask('POST', `/${ID}/cancel`);
      expect([cancelled.status, await cancelled.text()]).toEqual([400, expect.stringContaining('background')]);
      expect((await ask('GET', `/${ID}?stream=true`)).status).toBe(400);
    });

    it.each([
      ['GET', `/${ID}`],
      ['GET', `/${ID}/input_items`],
      ['DELETE', `/${ID}`],
      ['POST', `/${ID}/cancel`],
    ])('are not there for another key (case 78): %s %s', async (method, path) => {
      await keepHere();
      const [otherUser, nobody] = [await relay.caller(), { key: 'sk-unknown-unknown-unknown-unknown' }];
      await expectError('responses', await ask(method, path, otherUser), NOT_FOUND);
      await expectError('responses', await ask(method, path, nobody), INVALID_TOKEN);
      expect(await rows()).toHaveLength(1);
    });

    it.each([
      ['GET', '/resp_none'],
      ['GET', '/%00'],
      ['GET', `/${'x'.repeat(2000)}`],
      ['GET', `/${ID}/elsewhere`],
      ['DELETE', `/${ID}/input_items`],
      ['POST', `/${ID}`],
    ])('are not at any other address: %s %s', async (method, path) => {
      await expectError('responses', await ask(method, path), NOT_FOUND);
    });
  });

  describe('by the channel that made them', () => {
    const answered = async (body: object = {}): Promise<unknown> => {
      relay.upstream.scriptNext(responsesResponse({ id: ID }));
      const response = await create(body);
      await response.text();
      expect(response.status).toBe(200);
      return relay.upstream.requests.at(-1)?.headers.authorization;
    };

    it.each([{ stream: true }, { stream: false }])('are asked for there, and nowhere else: %j', async (form) => {
      const credential = await answered(form);
      relay.upstream.script(jsonAnswer(200, { ...RESPONSE, unknown: 1 }));
      expect(await (await ask('GET', `/${ID}?include=a`)).json()).toEqual({ ...RESPONSE, unknown: 1 });
      await ask('GET', `/${ID}/input_items?limit=3`);
      await ask('DELETE', `/${ID}`);
      const requested = relay.upstream.requests.slice(1).map(({ method, path, query, body, headers }) => {
        expect([headers.authorization, headers['content-length'], body.length]).toEqual([credential, undefined, 0]);
        return `${method} ${path} ${query.toString()}`;
      });
      expect(requested).toEqual([
        `GET /v1/responses/${ID} include=a`,
        `GET /v1/responses/${ID}/input_items limit=3`,
        `DELETE /v1/responses/${ID} `,
      ]);
      await expectError('responses', await ask('GET', `/${ID}`), NOT_FOUND);
    });

    it('are refused as it refuses them, and are not forgotten by that', async () => {
      await answered();
      relay.upstream.script(errorResponse('responses', 500));
      expect((await ask('DELETE', `/${ID}`)).status).toBe(502);
      expect(await rows()).toHaveLength(1);
    });

    it('cannot be asked for when no such channel any more', async () => {
      await answered();
      await relay.get(DataSource).query(`UPDATE stored_answers SET channel_id = 'chn_gone'`);
      expect((await ask('GET', `/${ID}`)).status).toBe(503);
    });

    it('are continued there, and by their items, whatever the order of channels is', async () => {
      const credential = await answered();
      const [item] = await relay
        .get(DataSource)
        .query<{ id: string }[]>('SELECT id FROM stored_answer_items WHERE key_id = $1', [ann.keyId]);
      relay.upstream.reset();
      for (let time = 0; time < 10; time += 1) {
        await (await create({ previous_response_id: ID })).text();
        await (await create({ input: [{ type: 'item_reference', id: item?.id }] })).text();
      }
      expect(credentials()).toEqual(Array.from({ length: 20 }, () => credential));
    });

    it('are not continued by another channel when theirs is out', async () => {
      const credential = await answered();
      const channel = relay
        .get(ChannelDirectory)
        .all()
        .find(({ credentials: [secret] }) => `Bearer ${secret?.secret.reveal()}` === credential);
      await relay.get(DataSource).query('UPDATE stored_answers SET channel_id = $1', [`${channel?.id}x`]);
      relay.upstream.reset();
      expect((await create({ previous_response_id: ID })).status).toBe(503);
      expect(relay.upstream.requests).toEqual([]);
    });

    it('are not noted when the client wants nothing kept, or its key keeps nothing', async () => {
      await answered({ store: false });
      relay.upstream.scriptNext(responsesResponse({ id: ID }));
      await (await create({}, await silentKey())).text();
      expect(await rows()).toEqual([]);
    });

    it('are not kept there either for a key that keeps nothing, though the client does not say so', async () => {
      const stored = (): unknown => relay.upstream.requests.at(-1)?.json['store'];
      await (await create({})).text();
      expect(stored()).toBeUndefined();
      await (await create({}, await silentKey())).text();
      expect(stored()).toBe(false);
    });
  });

  describe('of an upstream of another protocol', () => {
    const FOREIGN = { model: 'foreign' };
    const sdk = (): OpenAI => new OpenAI({ apiKey: ann.key, baseURL: `${relay.url}/v1`, maxRetries: 0 });
    const sent = (): unknown => relay.upstream.requests.at(-1)?.json['messages'];

    it('are continued by their id and by their items, with all that was said before (case 78)', async () => {
      const client = sdk();
      relay.upstream.scriptNext(chatResponse({ text: 'Hi.' }));
      const one = await client.responses.create({ ...FOREIGN, input: 'Hello' });
      expect(one).toHaveProperty('store', true);
      relay.upstream.scriptNext(chatResponse({ text: 'Fine.' }));
      const two = await client.responses.create({ ...FOREIGN, input: 'How are you?', previous_response_id: one.id });
      const said = [
        { role: 'user', content: 'Hello' },
        { role: 'assistant', content: 'Hi.' },
        { role: 'user', content: 'How are you?' },
      ];
      expect(sent()).toEqual(said);
      expect(two.previous_response_id).toBe(one.id);
      const input = [
        { type: 'item_reference' as const, id: two.output[0]?.id ?? '' },
        { role: 'user' as const, content: 'So?' },
      ];
      await client.responses.create({ ...FOREIGN, input, previous_response_id: one.id });
      expect(sent()).toEqual([
        ...said.slice(0, 1),
        { role: 'assistant', content: expect.anything() as unknown },
        { role: 'user', content: 'So?' },
      ]);
    });

    it('are kept as they were given, streamed or not, before their client has seen the end', async () => {
      const client = sdk();
      const stream = client.responses.stream({ ...FOREIGN, input: 'Hello' });
      const streamed = await stream.finalResponse();
      // The SDK adds a member of its own to what was streamed.
      expect(streamed.output).toMatchObject((await client.responses.retrieve(streamed.id)).output);
      const whole = await client.responses.create({ ...FOREIGN, input: 'Hello' });
      expect(await client.responses.retrieve(whole.id)).toEqual(whole);
      expect((await client.responses.inputItems.list(whole.id)).data).toEqual([
        expect.objectContaining({ role: 'user', content: [{ type: 'input_text', text: 'Hello' }] }),
      ]);
    });

    it('are not kept when the client or its key does not want it, and say so', async () => {
      const silent = await silentKey();
      const [unwanted, unallowed] = [await create({ ...FOREIGN, store: false }), await create(FOREIGN, silent)];
      for (const response of [unwanted, unallowed]) expect(await response.json()).toMatchObject({ store: false });
      expect(await rows()).toEqual([]);
    });

    it('are refused by name where they are not kept (case 78)', async () => {
      const refused = await create({ ...FOREIGN, previous_response_id: ID });
      expect(refused.status).toBe(400);
      expect(await refused.json()).toMatchObject({
        error: { code: 'previous_response_not_found', param: 'previous_response_id' },
      });
      expect(relay.upstream.requests).toEqual([]);
    });
  });

  it('are asked for in vain under a key that keeps nothing: only what is said expressly is refused', async () => {
    const silent = await silentKey();
    for (const [body, param] of [
      [{ store: true }, 'store'],
      [{ previous_response_id: ID }, 'previous_response_id'],
      [{ input: [{ type: 'item_reference', id: 'msg_1' }] }, 'input'],
    ] as const) {
      const refused = await create(body, silent);
      expect(refused.status).toBe(400);
      expect(await refused.json()).toMatchObject({ error: { param, type: 'invalid_request_error' } });
    }
    expect(relay.upstream.requests).toEqual([]);
    expect((await create({}, silent)).status).toBe(200);
    expect((await create({ store: false }, silent)).status).toBe(200);
  });
});
