import OpenAI from 'openai';
import { DataSource } from 'typeorm';
import { ApiKeyService } from '../../src/keys/index.js';
import { VENDORS } from '../conformance/protocols/index.js';
import { expectError, NOT_FOUND } from '../support/api-errors.js';
import { usePairsRelay } from '../support/pairs-relay.js';
import { errorResponse, type ProtocolEndpoint, responseIn } from '../support/scripted-upstream.js';

const world = usePairsRelay();
const openai = (key = world.caller.key): OpenAI => new OpenAI({ apiKey: key, baseURL: world.url, maxRetries: 0 });
const user = (text: string) => ({ type: 'message' as const, role: 'user' as const, content: text });
const itemsOf = async (id: string): Promise<readonly string[]> => {
  const page = await openai().conversations.items.list(id, { order: 'asc' });
  return page.data.map((item) => JSON.stringify(item));
};
const rows = (table: string): Promise<readonly unknown[]> =>
  world.relay.get(DataSource).query(`SELECT * FROM ${table} WHERE key_id = $1`, [world.caller.keyId]);

describe('conversations', () => {
  it('are created, read, changed and deleted as the SDK does', async () => {
    const client = openai();
    const created = await client.conversations.create({ items: [user('Hello')], metadata: { topic: 'trip' } });
    expect(created).toMatchObject({ object: 'conversation', metadata: { topic: 'trip' } });
    expect(await client.conversations.retrieve(created.id)).toEqual(created);
    expect(await client.conversations.update(created.id, { metadata: { topic: 'food' } })).toMatchObject({
      metadata: { topic: 'food' },
    });
    expect(await client.conversations.delete(created.id)).toEqual({
      id: created.id,
      object: 'conversation.deleted',
      deleted: true,
    });
    await expect(client.conversations.retrieve(created.id)).rejects.toMatchObject({ status: 404 });
    expect([await rows('conversations'), await rows('conversation_items')]).toEqual([[], []]);
  });

  it('have items in order, each with an ID', async () => {
    const { items, ...conversations } = openai().conversations;
    void conversations;
    const { id } = await openai().conversations.create();
    await items.create(id, { items: [user('One'), user('Two')] });
    const added = await items.create(id, { items: [user('Three')] });
    expect(added.data).toMatchObject([{ type: 'message', content: 'Three' }]);
    const all = await itemsOf(id);
    expect(all.map((item) => /One|Two|Three/.exec(item)?.[0])).toEqual(['One', 'Two', 'Three']);
    const itemId = (added.data[0] as { id: string }).id;
    expect(await items.retrieve(itemId, { conversation_id: id })).toMatchObject({ id: itemId });
    expect(await items.delete(itemId, { conversation_id: id })).toMatchObject({ id, object: 'conversation' });
    expect(await itemsOf(id)).toHaveLength(2);
    await expect(items.retrieve(itemId, { conversation_id: id })).rejects.toMatchObject({ status: 404 });
  });

  it('keep nothing readable', async () => {
    await openai().conversations.create({ items: [user('marker-of-a-prompt')], metadata: { topic: 'marker' } });
    const stored = [...(await rows('conversations')), ...(await rows('conversation_items'))];
    expect(stored).toHaveLength(2);
    expect(JSON.stringify(stored)).not.toContain(Buffer.from('marker').toString('hex'));
    expect(JSON.stringify(stored)).not.toContain('marker');
  });

  it('belong to their key alone, and end with it', async () => {
    const { id } = await openai().conversations.create({ items: [user('Hello')] });
    const [{ id: itemId }] = (await openai().conversations.items.list(id)).data as unknown as [{ id: string }];
    const other = await world.relay.caller();
    const ask = (method: string, path: string): Promise<Response> =>
      fetch(`${world.url}/conversations/${path}`, {
        method,
        headers: { authorization: `Bearer ${other.key}`, 'content-type': 'application/json' },
        ...(method === 'POST' && { body: JSON.stringify({ metadata: {}, items: [user('x')] }) }),
      });
    for (const [method, path] of [
      ['GET', id],
      ['POST', id],
      ['DELETE', id],
      ['GET', `${id}/items`],
      ['POST', `${id}/items`],
      ['GET', `${id}/items/${itemId}`],
      ['DELETE', `${id}/items/${itemId}`],
    ] as const)
      await expectError('responses', await ask(method, path), NOT_FOUND);
    const request = { model: 'over-messages', input: 'Hello', conversation: id };
    const response = await world.relay.post('/v1/responses', other.key, request);
    expect(response.status).toBeGreaterThanOrEqual(400);
    expect(world.relay.upstream.requests).toEqual([]);
    expect(await itemsOf(id)).toHaveLength(1);
    await world.relay.get(ApiKeyService).delete(world.caller.keyId);
    expect(await rows('conversations')).toEqual([]);
  });

  it.each([
    [{ metadata: { a: 1 } }, 'metadata'],
    [{ items: 'x' }, 'items'],
    [{ items: Array.from({ length: 21 }, () => user('x')) }, 'items'],
  ])('are refused by name: %j', async (body, param) => {
    const response = await world.relay.post('/v1/conversations', world.caller.key, body);
    expect([response.status, await response.json()]).toMatchObject([400, { error: { param } }]);
  });

  const withFile = { type: 'message', role: 'user', content: [{ type: 'input_file', file_id: 'file-OTHER' }] };
  const search = { type: 'additional_tools', tools: [{ type: 'web_search' }, { type: 'function', name: 'f' }] };
  const vectors = { type: 'additional_tools', tools: [{ type: 'mcp', tunnel_id: 'tunnel_1' }] };

  it.each([
    ['a file', withFile, 'items[1]'],
    ['a hosted tool', search, 'items[1].tools'],
    ['a tool with upstream state', vectors, 'items[1].tools'],
    ['an effort', { type: 'configuration_update', reasoning: { effort: 'max' } }, 'items[1].reasoning.effort'],
  ])('do not store items with %s', async (_, item, param) => {
    const { id } = await openai().conversations.create();
    for (const path of ['/v1/conversations', `/v1/conversations/${id}/items`]) {
      const response = await world.relay.post(path, world.caller.key, { items: [user('Hello'), item] });
      expect([response.status, await response.json()]).toMatchObject([400, { error: { param } }]);
    }
    expect([await rows('conversations'), await itemsOf(id)]).toMatchObject([[{}], []]);
  });

  it.each([
    ['a file of another account', withFile, 'file_id'],
    ['a hosted tool', search, 'input[0].tools'],
  ])('are not continued with %s in the input', async (_, item, param) => {
    const { id } = await openai().conversations.create({ items: [user('Hello')] });
    const request = { model: 'over-responses', input: [item], conversation: id };
    const response = await world.relay.post('/v1/responses', world.caller.key, request);
    expect([response.status, await response.json()]).toMatchObject([400, { error: { param } }]);
    expect(world.relay.upstream.requests).toEqual([]);
    expect(await itemsOf(id)).toHaveLength(1);
  });

  it('do not continue a response whose input defines hosted tools', async () => {
    for (const model of ['over-responses', 'over-messages']) {
      const first = await world.relay.post('/v1/responses', world.caller.key, {
        model,
        input: [user('Hello'), search],
      });
      expect(first.status).toBe(200);
      const { id } = (await first.json()) as { id: string };
      const read = await fetch(`${world.url}/responses/${id}`, {
        headers: { authorization: `Bearer ${world.caller.key}` },
      });
      expect(read.status).toBe(404);
    }
    expect(world.relay.upstream.requests[0]?.json).toMatchObject({ store: false });
  });

  it('are refused for keys that never store', async () => {
    const { accountId } = world.caller;
    const { secret } = await world.relay.get(ApiKeyService).create({ accountId, name: 'silent', neverStores: true });
    await expect(openai(secret.reveal()).conversations.create()).rejects.toMatchObject({ status: 400 });
  });
});

describe.each(VENDORS.map(({ id }) => id))('a conversation over an upstream of %s', (upstream) => {
  const model = `over-${upstream}`;
  const answer = (text: string): void =>
    world.relay.upstream.scriptNext(responseIn(upstream as ProtocolEndpoint, { text }));
  const sent = (at: number): string => world.relay.upstream.requests[at]!.body.toString();

  it.each([{ stream: false }, { stream: true }])('goes on with every response: %j', async ({ stream }) => {
    const { id } = await openai().conversations.create({ items: [user('My name is Ann.')] });
    for (const [input, text] of [
      ['Hello', 'Hello Ann.'],
      ['Who am I?', 'Ann.'],
    ] as const) {
      answer(text);
      const response = await world.relay.post('/v1/responses', world.caller.key, {
        model,
        input,
        stream,
        conversation: id,
      });
      expect([response.status, await response.text()]).toEqual([200, expect.stringContaining(text)]);
    }
    expect([sent(0).includes('My name is Ann.'), sent(0).includes(id)]).toEqual([true, false]);
    for (const text of ['My name is Ann.', 'Hello', 'Hello Ann.', 'Who am I?']) expect(sent(1)).toContain(text);
    const all = await itemsOf(id);
    expect(all).toHaveLength(5);
    expect(all.at(-1)).toContain('Ann.');
    expect((await world.relay.calls(world.caller)).map(({ status }) => status)).toEqual(['succeeded', 'succeeded']);
    expect(await world.relay.ledger()).toMatchObject({ exact: true });
  });

  it('stays as it was when a response fails', async () => {
    const { id } = await openai().conversations.create({ items: [user('My name is Ann.')] });
    world.relay.upstream.scriptNext(errorResponse(upstream as ProtocolEndpoint, 400));
    const request = { model, input: 'Hello', conversation: { id } };
    await expect(openai().responses.create(request)).rejects.toMatchObject({ status: 400 });
    expect(await itemsOf(id)).toHaveLength(1);
  });

  it('rejects calls when full, before anything is sent', async () => {
    const { id } = await openai().conversations.create({ items: [user('My name is Ann.')] });
    await world.relay
      .get(DataSource)
      .query('UPDATE conversations SET length = 40e6 WHERE key_id = $1 AND id = $2', [world.caller.keyId, id]);
    const response = await world.relay.post('/v1/responses', world.caller.key, {
      model,
      input: 'Hello',
      conversation: id,
    });
    expect([response.status, await response.text()]).toEqual([413, expect.stringContaining('conversation is full')]);
    expect(world.relay.upstream.requests).toEqual([]);
  });

  it('excludes previous_response_id', async () => {
    const { id } = await openai().conversations.create();
    const request = { model, input: 'Hello', conversation: id, previous_response_id: 'resp_1' };
    const response = await world.relay.post('/v1/responses', world.caller.key, request);
    expect([response.status, await response.json()]).toMatchObject([400, { error: { param: 'previous_response_id' } }]);
  });
});
