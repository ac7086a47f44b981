import { type DemoUpstream, startDemoUpstream } from '../../src/app/demo/demo.server.js';
import { EXAMPLES, type ExampleEvent, STREAMS, TOOLS } from '../../src/console/home/docs/examples.js';
import { pathsFor } from '../../src/console/home/docs/openapi/index.js';
import { jsonText } from '../../src/console/web/index.js';
import { ApiKeyService } from '../../src/keys/index.js';
import { parseUsd } from '../../src/platform/shared/index.js';
import { pathForModel } from '../../src/protocols/contract/index.js';
import { CLIENTS } from '../conformance/protocols/index.js';
import { PATHS, PROTOCOLS } from '../support/protocols.js';
import { NO_TOOL_FEES, RelayApp, type TestCaller } from '../support/relay-app.js';
import { responseIn } from '../support/scripted-responses.js';

const MODEL = 'gpt-5.5';

const catalogFor = (base: string, scripted: string): string => `
groups:
  - { name: default, multiplier: 1 }
models:
  - { name: ${MODEL}, context_window: 200000, max_output_tokens: 64000, groups: [default], owned_by: tests,
      tool_fees: ${NO_TOOL_FEES},
      prices: [{ from_prompt_tokens: 0, input: 1.25, cache_read: 0.125, output: 10 }] }
  - { name: translated, context_window: 200000, max_output_tokens: 64000, groups: [default], prices: free }
  - { name: tools, context_window: 200000, max_output_tokens: 64000, groups: [default], capabilities: [tools],
      prices: free }
channels:
  - { name: scripted, protocol: gemini, base_url: "${scripted}", credentials: [none], groups: [default],
      models: { tools: gemini } }
  - { name: translated, protocol: chat-completions, base_url: "${base}", credentials: [none], groups: [default],
      models: { translated: demo } }
${PROTOCOLS.map(
  (protocol) => `
  - { name: ${protocol}, protocol: ${protocol}, base_url: "${base}", credentials: [none], groups: [default],
      models: { ${MODEL}: demo } }`,
).join('')}
`;

/** Members of the example that the value does not have, or that are of another type. */
function missing(example: unknown, value: unknown, at = '$'): string[] {
  if (Array.isArray(example)) {
    if (!Array.isArray(value) || (example.length > 0 && value.length === 0)) return [at];
    return example.flatMap((item) => {
      const found = value.map((other) => missing(item, other, `${at}[]`));
      return found.some((faults) => faults.length === 0) ? [] : (found[0] ?? []);
    });
  }
  // What is unlimited or unknown is null.
  if (typeof example !== 'object' || example === null)
    return example === null || value === null || typeof example === typeof value ? [] : [at];
  if (typeof value !== 'object' || value === null) return [at];
  return Object.entries(example).flatMap(([name, member]) =>
    name in value ? missing(member, (value as Record<string, unknown>)[name], `${at}.${name}`) : [`${at}.${name}`],
  );
}

const eventsOf = (text: string): ExampleEvent[] =>
  text
    .split('\n\n')
    .filter((block) => block.includes('data: '))
    .map((block) => {
      const event = /^event: (.*)$/m.exec(block)?.[1];
      const data = /^data: (.*)$/m.exec(block)?.[1] ?? '';
      return {
        ...(event !== undefined && { event }),
        data: data.startsWith('{') ? (JSON.parse(data) as object) : data,
      };
    });

describe('the examples of the docs', () => {
  let relay: RelayApp;
  let demo: DemoUpstream;
  let caller: TestCaller;

  beforeAll(async () => {
    [relay, demo] = await Promise.all([RelayApp.startEmpty(), startDemoUpstream({ firstTokenMs: 1, tokenMs: 0 })]);
    await relay.applyCatalog(catalogFor(demo.baseUrl, relay.upstream.url));
    const owner = await relay.caller();
    const { secret } = await relay.get(ApiKeyService).create({
      accountId: owner.accountId,
      name: 'laptop',
      quota: parseUsd('100'),
      budgets: { daily: parseUsd('5') },
      limits: { requestsPerMinute: 60, concurrency: 4 },
    });
    caller = { ...owner, key: secret.reveal() };
  });
  afterAll(() => Promise.all([relay.close(), demo.close()]));

  const ask = (path: string, method = 'GET'): Promise<Response> =>
    fetch(relay.url + path, { method, headers: { authorization: `Bearer ${caller.key}` } });

  const operations = Object.entries(pathsFor([])).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { operationId }]) => ({ path, method: method.toUpperCase(), operationId })),
  );
  /** Creates something, from nothing but the request. */
  const posts = operations.filter(
    ({ operationId, path }) =>
      EXAMPLES[operationId]?.body !== undefined && !path.includes('{id}') && operationId !== 'compactConversation',
  );

  it('exist for every operation', () => {
    const without = operations.map(({ operationId }) => operationId).filter((id) => EXAMPLES[id] === undefined);
    // A WebSocket is not a request with a response.
    expect(without).toEqual(['connectResponses']);
    expect(CLIENTS.filter(({ id }) => !STREAMS[id] || !TOOLS[id])).toEqual([]);
  });

  it.each(posts)('of $operationId are accepted, and show the response', async ({ path, operationId }) => {
    const { body, response } = EXAMPLES[operationId]!;
    const received = await relay.post(pathForModel(path, MODEL), caller.key, body!(MODEL));
    expect(received.status).toBe(200);
    expect(missing(response, await received.json())).toEqual([]);
  });

  it('show the models, the key and a call', async () => {
    const call = await relay.post(PATHS.responses, caller.key, EXAMPLES['createResponse']!.body!(MODEL));
    const paths = {
      listModels: '/v1/models',
      getModel: `/v1/models/${MODEL}`,
      getKey: '/v1/key',
      listGeminiModels: '/v1beta/models',
      getGeminiModel: `/v1beta/models/${MODEL}`,
      getGeneration: `/v1/generations/${call.headers.get('x-request-id')}`,
    };
    for (const [id, path] of Object.entries(paths))
      expect([id, missing(EXAMPLES[id]!.response, await (await ask(path)).json())]).toEqual([id, []]);
  });

  it('show a compacted conversation', async () => {
    const { body, response } = EXAMPLES['compactConversation']!;
    const received = await relay.post(`${PATHS.responses}/compact`, caller.key, body!('translated'));
    expect(missing(response, await received.json())).toEqual([]);
  });

  it('show a conversation and its items', async () => {
    const { id } = (await (
      await relay.post('/v1/conversations', caller.key, EXAMPLES['createConversation']!.body!(MODEL))
    ).json()) as { id: string };
    const path = `/v1/conversations/${id}`;
    const changed = async (operationId: string, suffix: string): Promise<unknown> =>
      (await relay.post(path + suffix, caller.key, EXAMPLES[operationId]!.body!(MODEL))).json();
    const added = (await changed('addConversationItems', '/items')) as { data: [{ id: string }] };
    expect(missing(EXAMPLES['addConversationItems']!.response, added)).toEqual([]);
    expect(missing(EXAMPLES['updateConversation']!.response, await changed('updateConversation', ''))).toEqual([]);
    const item = `/items/${added.data[0].id}`;
    for (const [operationId, method, suffix] of [
      ['getConversation', 'GET', ''],
      ['listConversationItems', 'GET', '/items'],
      ['getConversationItem', 'GET', item],
      ['deleteConversationItem', 'DELETE', item],
      ['deleteConversation', 'DELETE', ''],
    ] as const) {
      const received: unknown = await (await ask(path + suffix, method)).json();
      expect([operationId, missing(EXAMPLES[operationId]!.response, received)]).toEqual([operationId, []]);
    }
  });

  it('show a cancelled response', async () => {
    const body = { ...EXAMPLES['createResponse']!.body!('translated'), background: true };
    const { id } = (await (await relay.post(PATHS.responses, caller.key, body)).json()) as { id: string };
    const received = await ask(`/v1/responses/${id}/cancel`, 'POST');
    expect(missing(EXAMPLES['cancelResponse']!.response, await received.json())).toEqual([]);
  });

  it('show a stored response', async () => {
    const call = await relay.post(PATHS.responses, caller.key, EXAMPLES['createResponse']!.body!('translated'));
    const path = `/v1/responses/${((await call.json()) as { id: string }).id}`;
    for (const [id, method, suffix] of [
      ['getResponse', 'GET', ''],
      ['listResponseInput', 'GET', '/input_items'],
      ['deleteResponse', 'DELETE', ''],
    ] as const)
      expect([id, missing(EXAMPLES[id]!.response, await (await ask(path + suffix, method)).json())]).toEqual([id, []]);
  });

  it.each(CLIENTS)('show the events of a stream of $id in their order', async ({ id, path: usual }) => {
    const { path = usual, body, events, end } = STREAMS[id]!;
    const response = await relay.post(pathForModel(path, MODEL), caller.key, body(MODEL));
    const received = eventsOf(await response.text());
    let at = 0;
    for (const example of events) {
      const next = received.findIndex((event, index) => index >= at && isLike(example, event));
      expect([example, next]).not.toEqual([example, -1]);
      at = next + 1;
    }
    const last = received.at(-1);
    const isLast = last?.event === end || last?.data === '[DONE]' || JSON.stringify(last).includes(`"${end}"`);
    expect(isLast).toBe(true);
  });

  it.each(CLIENTS)('with tools and schemas are accepted in $id', async ({ id, path }) => {
    const { offer, result, schema } = TOOLS[id]!;
    for (const body of [offer, result, schema])
      expect((await relay.post(pathForModel(path, MODEL), caller.key, body(MODEL))).status).toBe(200);
  });

  it.each(CLIENTS)('show a response of $id that calls a tool', async ({ id, path }) => {
    const { offer, response } = TOOLS[id]!;
    const called = { id: 'call_1', name: 'weather', arguments: '{"city":"Oslo"}' };
    // Translated for all others.
    relay.upstream.scriptNext(responseIn('gemini', { toolCalls: [called] }));
    const received = await relay.post(pathForModel(path, 'tools'), caller.key, offer('tools'));
    expect(received.status).toBe(200);
    const body = await received.text();
    expect(missing(response, JSON.parse(body))).toEqual([]);
    for (const text of JSON.stringify(response).match(/"(?:name|type|finish_reason|stop_reason|status)":"\w+"/g)!)
      expect(body).toContain(text);
  });

  it('are JSON as it is written', () => {
    for (const { body, response } of Object.values(EXAMPLES))
      for (const value of [body?.(MODEL), response])
        if (value !== undefined) expect(JSON.parse(jsonText(value))).toEqual(value);
    expect(jsonText({ a: [1, { b: '[ {x}' }] })).toBe('{"a": [1, {"b": "[ {x}"}]}');
  });
});

const isLike = (example: ExampleEvent, { event, data }: ExampleEvent): boolean =>
  example.event === event &&
  (typeof example.data === 'string' ? example.data === data : missing(example.data, data).length === 0);
