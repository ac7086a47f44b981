import Anthropic from '@anthropic-ai/sdk';
import { DataSource } from 'typeorm';
import { ApiKeyService } from '../../src/keys/index.js';
import { VENDORS } from '../conformance/protocols/index.js';
import type { NeutralRequest } from '../support/neutral-request.js';
import { usePairsRelay } from '../support/pairs-relay.js';
import { readRequest } from '../support/protocol-doubles.js';
import { type AnswerOptions, type JsonObject, responseIn, WEATHER_CALL } from '../support/scripted-upstream.js';

const TRANSLATED = VENDORS.map(({ id }) => id).filter((id) => id !== 'messages');
const TOOLS = [{ name: 'get_weather', input_schema: { type: 'object' as const, properties: { city: {} } } }];
const BETAS = { 'anthropic-beta': 'message-threads-2026-08-12' };

const world = usePairsRelay();
const client = (key = world.caller.key): Anthropic =>
  new Anthropic({ baseURL: world.relay.url, apiKey: key, maxRetries: 0 });
const answers = (upstream: string, ...options: readonly AnswerOptions[]): void =>
  world.relay.upstream.scriptNext(...options.map((one) => responseIn(upstream, one)));
const requests = (): readonly JsonObject[] => world.relay.upstream.requests.map(({ json }) => json);
const lastRead = (upstream: string): NeutralRequest => readRequest(upstream, requests().at(-1) ?? {});
const post = async (body: JsonObject, key = world.caller.key): Promise<readonly [number, JsonObject]> => {
  const asked = { max_tokens: 100, messages: [{ role: 'user', content: 'Go on.' }], ...body };
  const response = await world.relay.post('/v1/messages', key, asked, BETAS);
  return [response.status, (await response.json()) as JsonObject];
};
const continued = (id: unknown): JsonObject => ({ thread: { type: 'continue', previous_message_id: id } });
const created = async (model: string, more: JsonObject = {}): Promise<unknown> => {
  const [status, message] = await post({ model, thread: { type: 'create' }, ...more });
  expect(status).toBe(200);
  return message['id'];
};
const LOST = [404, { error: { type: 'not_found_error', details: { error_code: 'thread_not_found' } } }];

describe.each(TRANSLATED)('message threads over %s', (upstream) => {
  const model = `over-${upstream}`;

  it.each([false, true])(
    'send the whole conversation upstream when the SDK sends new messages (streamed: %p)',
    async (isStream) => {
      answers(upstream, { text: ['Let me ', 'see.'], toolCalls: [WEATHER_CALL] }, { text: 'Sunny.' }, { text: 'Yes.' });
      const thread = client().beta.messages.thread({ model, max_tokens: 1000, system: 'Be brief.', tools: TOOLS });
      const send = (
        content: Anthropic.Beta.BetaUserMessageParam['content'],
      ): PromiseLike<Anthropic.Beta.BetaMessage> =>
        isStream ? thread.stream({ role: 'user', content }).finalMessage() : thread.send({ role: 'user', content });
      const first = await send('Weather in Oslo?');
      expect(first.content.map(({ type }) => type)).toEqual(['text', 'tool_use']);
      await send([{ type: 'tool_result', tool_use_id: WEATHER_CALL.id, content: 'Sun' }]);
      await send('Sure?');
      expect(requests()).toHaveLength(3);
      const { system, tools, turns } = lastRead(upstream);
      expect([system, tools?.map(({ name }) => name)]).toEqual(['Be brief.', ['get_weather']]);
      expect(turns).toMatchObject([
        { by: 'user', text: 'Weather in Oslo?' },
        { by: 'assistant', text: 'Let me see.', calls: [{ name: 'get_weather', arguments: '{"city":"Oslo"}' }] },
        { by: 'tool', text: 'Sun' },
        { by: 'assistant', text: 'Sunny.' },
        { by: 'user', text: 'Sure?' },
      ]);
      expect(await world.relay.ledger()).toEqual({ exact: true, differences: [] });
    },
  );

  it('are replayed by the SDK when they are no longer stored', async () => {
    const thread = client().beta.messages.thread({ model, max_tokens: 1000 });
    await thread.send({ role: 'user', content: 'First' });
    await world.relay.get(DataSource).query('DELETE FROM stored_answers WHERE key_id = $1', [world.caller.keyId]);
    await thread.send({ role: 'user', content: 'Second' });
    expect(lastRead(upstream).turns.map(({ text }) => text)).toEqual(['First', 'Hello', 'Second']);
    expect(requests()).toHaveLength(2);
  });

  it('continue with a conversation that is too large to translate beside streams', async () => {
    const long = 'A long text. '.repeat(200_000);
    const id = await created(model, { messages: [{ role: 'user', content: long }] });
    expect(await post({ model, ...continued(id) })).toMatchObject([200, {}]);
    expect(lastRead(upstream).turns.map(({ text }) => text?.length)).toEqual([long.length, 5, 6]);
  });
});

describe('message threads', () => {
  const model = 'over-chat-completions';

  it('are not found by other keys', async () => {
    const id = await created(model);
    expect(await post({ model, ...continued(id) }, (await world.relay.caller()).key)).toMatchObject(LOST);
    expect(await post({ model, ...continued('msg_1') })).toMatchObject(LOST);
    expect(requests()).toHaveLength(1);
  });

  it('are stored only when a thread is asked for', async () => {
    const [, message] = await post({ model });
    expect(await post({ model, ...continued(message['id']) })).toMatchObject(LOST);
  });

  it.each(['system', 'tools'])('reject %s, which they keep', async (name) => {
    const id = await created(model);
    const [status, body] = await post({ model, ...continued(id), [name]: name === 'system' ? 'Obey.' : TOOLS });
    expect([status, JSON.stringify(body)]).toEqual([400, expect.stringContaining(`${name}: cannot be changed`)]);
  });

  it('are no responses of the Responses API', async () => {
    const id = String(await created(model));
    for (const name of [id, `thread ${id}`]) {
      const asked = { model, input: 'Go on.', previous_response_id: name };
      expect((await world.relay.post('/v1/responses', world.caller.key, asked)).status).toBe(400);
      const path = `/v1/responses/${encodeURIComponent(name)}`;
      const headers = { authorization: `Bearer ${world.caller.key}` };
      expect((await fetch(world.relay.url + path, { headers })).status).toBe(404);
    }
  });

  it('become threads of an upstream of Messages that takes over', async () => {
    const id = await created(model, { system: 'Be brief.', tools: TOOLS });
    const [status, message] = await post({ model: 'over-messages', ...continued(id) });
    expect(status).toBe(200);
    expect(requests().at(-1)).toEqual({
      model: 'vendor-messages',
      max_tokens: 100,
      thread: { type: 'create' },
      system: 'Be brief.',
      tools: TOOLS,
      messages: [
        { role: 'user', content: 'Go on.' },
        { role: 'assistant', content: [{ type: 'text', text: 'Hello', citations: null }] },
        { role: 'user', content: 'Go on.' },
      ],
    });
    await post({ model: 'over-messages', ...continued(message['id']) });
    expect(requests().at(-1)).toMatchObject(continued(message['id']));
  });

  it.each(['over-chat-completions', 'over-messages'])(
    'are refused with hosted tools over %s, so that the SDK sends the whole conversation',
    async (upstreamModel) => {
      const tools = [{ type: 'web_search_20250305' as const, name: 'web_search' as const }, ...TOOLS];
      expect(await post({ model: upstreamModel, thread: { type: 'create' }, tools })).toMatchObject([
        400,
        { error: { details: { error_code: 'thread_unsupported_request', unsupported: ['tools'] } } },
      ]);
      expect(requests()).toEqual([]);
      const thread = client().beta.messages.thread({
        model: upstreamModel,
        max_tokens: 100,
        tools,
        unsupportedRequestBehavior: 'continue_unthreaded',
      });
      await thread.send({ role: 'user', content: 'First' });
      await thread.send({ role: 'user', content: 'Second' });
      const { messages, thread: sent } = requests().at(-1) ?? {};
      expect([JSON.stringify(messages), sent]).toEqual([expect.stringMatching(/First.*Second/), undefined]);
    },
  );

  it('are refused for keys that never store, so that the SDK goes on without', async () => {
    const { accountId } = world.caller;
    const keys = world.relay.get(ApiKeyService);
    const { secret } = await keys.create({ accountId, name: 'silent', neverStores: true });
    const key = secret.reveal();
    expect(await post({ model, thread: { type: 'create' } }, key)).toMatchObject([
      400,
      { error: { details: { error_code: 'thread_unsupported_request', unsupported: ['thread'] } } },
    ]);
    const thread = client(key).beta.messages.thread({
      model,
      max_tokens: 100,
      unsupportedRequestBehavior: 'continue_unthreaded',
    });
    await thread.send({ role: 'user', content: 'First' });
    await thread.send({ role: 'user', content: 'Second' });
    expect(lastRead('chat-completions').turns.map(({ text }) => text)).toEqual(['First', 'Hello', 'Second']);
  });
});
