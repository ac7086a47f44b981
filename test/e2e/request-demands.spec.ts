import { expectError, NOT_FOUND } from '../support/api-errors.js';
import { aRequest, PATHS } from '../support/protocols.js';
import { catalogFor, RelayApp, type TestCaller } from '../support/relay-app.js';
import {
  responseIn,
  chatBody,
  type ProtocolEndpoint,
  type JsonObject,
  jsonAnswer,
  messagesBody,
} from '../support/scripted-upstream.js';

/** `m` costs $1 per million in and $10 out, fast 6 times as much and in `us` 1.1 times; `dear` costs $2 and $20. */
const catalog = (url: string, flags: string): string =>
  catalogFor(url)
    .replace('prices: [{ from', 'speeds: { fast: 6 }, geos: { us: 1.1 },\n      prices: [{ from')
    .replace(
      '\nmodels:',
      `\nmodels:
  - { name: dear, context_window: 200000, max_output_tokens: 64000, groups: [default], prices: [{ input: 2, output: 20 }] }`,
    )
    .replaceAll('models: { m:', 'models: { dear: vendor-dear, m:')
    .replaceAll('nativeOnly: true', flags);

/** Of another account of ours on the same upstream account, or made outside of this relay. */
const FOREIGN_STATE: readonly (readonly [string, ProtocolEndpoint, JsonObject, string])[] = [
  ['a container', 'messages', { container: 'container_1' }, 'container_1'],
  ['a container with skills', 'messages', { container: { id: 'container_2' } }, 'container_2'],
  ['a skill', 'messages', { container: { skills: [{ type: 'custom', skill_id: 'skill_1' }] } }, 'skill_1'],
  ['a file', 'messages', withContent({ type: 'document', source: { type: 'file', file_id: 'file_1' } }), 'file_1'],
  ['an upload', 'messages', withContent({ type: 'container_upload', file_id: 'file_2' }), 'file_2'],
  ['a thread', 'messages', { thread: { type: 'continue', previous_message_id: 'msg_1' } }, 'thread'],
  ['a response', 'responses', { previous_response_id: 'resp_1' }, 'resp_1'],
  ['an item', 'responses', { input: [{ type: 'item_reference', id: 'rs_1' }] }, 'rs_1'],
  ['an item with its id alone', 'responses', { input: [{ id: 'rs_2' }] }, 'rs_2'],
  ['an item without a type', 'responses', { input: [{ id: 'rs_3', type: null }] }, 'rs_3'],
  ['a conversation', 'responses', { conversation: 'conv_1' }, 'conv_1'],
  ['a conversation as an object', 'responses', { conversation: { id: 'conv_2' } }, 'conv_2'],
  ['a prompt', 'responses', { prompt: { id: 'pmpt_1' } }, 'pmpt_1'],
  ['a file of a prompt', 'responses', withInput({ type: 'input_file', file_id: 'file_3' }), 'file_3'],
  ['a vector store', 'responses', withTool({ type: 'file_search', vector_store_ids: ['vs_1'] }), 'vs_1'],
  ['a container of a tool', 'responses', withTool({ type: 'code_interpreter', container: 'cntr_1' }), 'cntr_1'],
  [
    'files for a container',
    'responses',
    withTool({ type: 'code_interpreter', container: { type: 'auto', file_ids: ['file_4'] } }),
    'file_4',
  ],
  ['a file', 'chat-completions', withContent({ type: 'file', file: { file_id: 'file_5' } }), 'file_5'],
];

function withContent(part: JsonObject): JsonObject {
  return { messages: [{ role: 'user', content: [part] }] };
}
function withInput(part: JsonObject): JsonObject {
  return { input: [{ role: 'user', content: [part] }] };
}
function withTool(tool: JsonObject): JsonObject {
  return { tools: [tool] };
}

describe('demands of a request beside tokens', () => {
  let relay: RelayApp;
  let ann: TestCaller;

  beforeAll(async () => {
    relay = await RelayApp.startEmpty();
    await apply();
  });
  afterAll(() => relay.close());
  beforeEach(async () => {
    relay.upstream.reset();
    ann = await relay.caller({ credit: '100' });
  });

  /** `only-chat` is served by one channel: calls of other protocols are translated. */
  const apply = (flags = 'nativeOnly: false'): Promise<unknown> =>
    relay.applyCatalog(catalog(relay.upstream.url, flags));
  const post = async (protocol: ProtocolEndpoint, more: JsonObject, by = ann): Promise<readonly [number, string]> => {
    const response = await relay.post(PATHS[protocol], by.key, JSON.stringify(aRequest(protocol, more)));
    return [response.status, await response.text()];
  };
  const requested = async (protocol: ProtocolEndpoint, more: JsonObject): Promise<JsonObject> => {
    relay.upstream.script(responseIn(protocol));
    expect((await post(protocol, more))[0]).toBe(200);
    const { body } = relay.upstream.requests.at(-1)!;
    return JSON.parse(String(body)) as JsonObject;
  };

  it.each<readonly [ProtocolEndpoint, JsonObject, string]>([
    ['messages', { container: 'container_1' }, 'container'],
    ['responses', { conversation: 'conv_1' }, 'conversation'],
    ['chat-completions', withContent({ type: 'file', file: { file_id: 'file_1' } }), 'file_id'],
  ])('F7: answers with the not-found error of the vendor in %s', async (protocol, more, param) => {
    const response = await relay.post(PATHS[protocol], ann.key, aRequest(protocol, more));
    await expectError(protocol, response, NOT_FOUND, protocol === 'messages' ? {} : { param });
    expect(relay.upstream.requests).toEqual([]);
  });

  it('F7: tells clients of message threads to send the whole conversation', async () => {
    const thread = { type: 'continue', previous_message_id: 'msg_1' };
    const [status, body] = await post('messages', { thread });
    expect([status, JSON.parse(body)]).toMatchObject([
      404,
      { error: { type: 'not_found_error', details: { error_code: 'thread_not_found' } } },
    ]);
  });

  describe.each(['m', 'only-chat'])('F7: for the model %s', (model) => {
    it.each(FOREIGN_STATE)('refuses %s of another account (%s)', async (_, protocol, more, named) => {
      const [status, body] = await post(protocol, { model, ...more });
      expect([400, 404]).toContain(status);
      expect(body).toContain(named);
      expect(relay.upstream.requests).toEqual([]);
    });
  });

  it('F7: counts a prompt here when it names a file of another account', async () => {
    const body = { model: 'm', ...withContent({ type: 'document', source: { type: 'file', file_id: 'file_1' } }) };
    const response = await relay.post('/v1/messages/count_tokens', ann.key, body);
    expect([response.status, relay.upstream.requests]).toEqual([200, []]);
  });

  it('F7: sends an id upstream when the channel has shared state', async () => {
    await apply('nativeOnly: true, sharedState: true');
    try {
      expect(await requested('messages', { container: 'container_1' })).toMatchObject({ container: 'container_1' });
      expect(await requested('responses', { previous_response_id: 'resp_1' })).toMatchObject({
        previous_response_id: 'resp_1',
      });
    } finally {
      await apply();
    }
  });

  const NAMED: readonly (readonly [string, ProtocolEndpoint, (name: string) => JsonObject])[] = [
    ['fallbacks', 'messages', (model) => ({ fallbacks: [{ model }] })],
    ['an advisor', 'messages', (model) => withTool({ type: 'advisor_20260301', name: 'advisor', model })],
    ['models', 'chat-completions', (model) => ({ models: [model] })],
    ['models', 'responses', (model) => ({ models: [model] })],
  ];

  it.each(NAMED)('F1: sends %s with the names that the upstream knows (%s)', async (_, protocol, of) => {
    expect(await requested(protocol, of('free'))).toMatchObject({ model: 'vendor-m-2026', ...of('vendor-free') });
  });

  it.each(NAMED)('F1: refuses %s beyond the models of the key (%s)', async (_, protocol, of) => {
    const limited = await relay.caller({ models: ['m', 'only-chat'] });
    for (const model of ['m', 'only-chat']) {
      const [status, body] = await post(protocol, { model, ...of('free') }, limited);
      expect(status).toBe(403);
      expect(body).toContain('free');
      for (const name of ['unheard-of', 'saver-only'])
        expect((await post(protocol, { model, ...of(name) }))[0]).toBe(404);
    }
    expect(relay.upstream.requests).toEqual([]);
  });

  it('F1: refuses a model that no channel serves with that of the request', async () => {
    await apply('nativeOnly: true');
    try {
      const [status, body] = await post('messages', { fallbacks: [{ model: 'only-chat' }] });
      expect([status, body.includes('fallbacks[0].model')]).toEqual([400, true]);
    } finally {
      await apply();
    }
  });

  const turn = (model: string, type = 'message', input = 9, output = 2): JsonObject => ({
    type,
    model,
    input_tokens: input,
    output_tokens: output,
  });
  const COMPACTION = { context_management: { edits: [{ type: 'compact_20260112' }] } };
  const ADVISOR = withTool({ type: 'advisor_20260301', name: 'advisor', model: 'dear' });

  // 9 × $1/M + 2 × $10/M = $0.000029 on m, 9 × $2/M + 2 × $20/M = $0.000058 on dear.
  it.each<readonly [string, JsonObject, JsonObject, string]>([
    ['speed as reported', { speed: 'fast' }, { speed: 'fast' }, '174000'],
    ['speed when the response is slower', { speed: 'fast' }, { speed: 'standard' }, '29000'],
    ['speed as requested when none is reported', { speed: 'fast' }, {}, '174000'],
    ['speed no higher than requested', {}, { speed: 'fast' }, '29000'],
    ['a region as reported', { inference_geo: 'us' }, { inference_geo: 'us' }, '31900'],
    ['a region that the upstream chose', {}, { inference_geo: 'us' }, '31900'],
    ['a region no higher than requested', { inference_geo: 'global' }, { inference_geo: 'us' }, '29000'],
    [
      'a fallback as the model that served, and the turn that was declined',
      { fallbacks: [{ model: 'dear' }] },
      { iterations: [turn('vendor-m-2026', 'message', 9, 0), turn('vendor-dear', 'fallback_message')] },
      '67000',
    ],
    // 100 × $1/M + 10 × $10/M on top.
    [
      'compaction',
      COMPACTION,
      { iterations: [turn('vendor-m-2026', 'compaction', 100, 10), turn('vendor-m-2026')] },
      '229000',
    ],
    // 50 × $2/M + 5 × $20/M on top.
    [
      'an advisor at the price of its model',
      ADVISOR,
      { iterations: [turn('vendor-m-2026'), turn('vendor-dear', 'advisor_message', 50, 5)] },
      '229000',
    ],
  ])('F1: charges %s', async (_, request, reported, cost) => {
    const body = messagesBody();
    relay.upstream.script(jsonAnswer(200, { ...body, usage: { ...(body['usage'] as JsonObject), ...reported } }));
    expect((await post('messages', request))[0]).toBe(200);
    const [row] = await relay.calls(ann);
    expect(row).toMatchObject({ cost, uncollected: '0' });
  });

  it('F1: charges models as the model that served', async () => {
    relay.upstream.script(jsonAnswer(200, { ...chatBody(), model: 'vendor-dear' }));
    expect((await post('chat-completions', { models: ['dear'] }))[0]).toBe(200);
    expect((await relay.calls(ann))[0]).toMatchObject({ cost: '58000' });
  });

  it.each<readonly [string, JsonObject]>([
    ['speed', { speed: 'fastest' }],
    ['speed', { model: 'dear', speed: 'fast' }],
    ['inference_geo', { inference_geo: 'eu' }],
    // The price of the other model counts as well.
    ['speed', { speed: 'fast', fallbacks: [{ model: 'dear' }] }],
    ['speed', { fallbacks: [{ model: 'dear', speed: 'fast' }] }],
  ])('F1: refuses %s without a price: %j', async (name, more) => {
    const [status, body] = await post('messages', more);
    expect([status, body]).toEqual([400, expect.stringContaining(name)]);
    expect(relay.upstream.requests).toEqual([]);
  });

  it.each<readonly [string, ProtocolEndpoint, unknown]>([
    ['fallbacks', 'messages', 'default'],
    ['billing_policy', 'messages', { type: 'billing_policy' }],
    ['fallback_credit_token', 'messages', 'token'],
    ['user_profile_id', 'messages', 'profile'],
    ['workspace_id', 'messages', 'workspace'],
    ['provider', 'chat-completions', { sort: 'throughput' }],
    ['plugins', 'chat-completions', [{ id: 'web' }]],
    ['preset', 'chat-completions', 'dear'],
    ['provider', 'responses', {}],
  ])('F1: refuses %s in %s', async (name, protocol, value) => {
    for (const model of ['m', 'only-chat']) {
      const [status, body] = await post(protocol, { model, [name]: value } as JsonObject);
      expect([status, body.includes(name)]).toEqual([400, true]);
    }
    expect(relay.upstream.requests).toEqual([]);
  });

  it('refuses beta headers that choose who pays, and counts those that it does not know', async () => {
    const sent = (beta: string): Promise<Response> =>
      fetch(`${relay.url}${PATHS.messages}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-api-key': ann.key, 'anthropic-beta': beta },
        body: JSON.stringify(aRequest('messages')),
      });
    const fillers = Array.from({ length: 100 }, (_, index) => `filler-${index}`).join();
    const refused = ['fallback-credit-2026-07-01', 'pdfs-2024-09-25, User-Profiles-Billing-2026-10-01'];
    for (const beta of [...refused, `${fillers},user-profiles-2026-03-24`]) expect((await sent(beta)).status).toBe(400);
    expect(relay.upstream.requests).toEqual([]);
    relay.upstream.script(responseIn('messages'));
    expect((await sent('context-1m-2025-08-07,novelty-2027-01-01')).status).toBe(200);
    const metrics = await (await fetch(`${relay.url}/metrics`)).text();
    expect(metrics).toContain('member="anthropic-beta=novelty-2027-01-01"} 1');
    expect(metrics).not.toContain('context-1m');
  });

  it('passes members that are not known and counts them, unless the channel refuses them', async () => {
    expect(await requested('messages', { novelty: 1 })).toMatchObject({ novelty: 1 });
    const metrics = await (await fetch(`${relay.url}/metrics`)).text();
    expect(metrics).toContain('switchboard_unknown_members_total{protocol="messages",member="novelty"} 1');
    await apply('nativeOnly: true, unknownMembers: refuse');
    try {
      const [status, body] = await post('messages', { novelty: 1 });
      expect([status, body.includes('novelty')]).toEqual([400, true]);
    } finally {
      await apply();
    }
  });
});
