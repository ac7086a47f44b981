import { CatalogService } from '../../src/catalog/index.js';
import { expectError, expectFreeRow, INVALID_REQUEST } from '../support/api-errors.js';
import { aRequest, PROTOCOLS, PATHS } from '../support/protocols.js';
import { eventually } from '../support/eventually.js';
import { catalogFor, RelayApp, type StoredCall, type TestCaller } from '../support/relay-app.js';
import {
  responseIn,
  chatBody,
  type ProtocolEndpoint,
  gate,
  type JsonObject,
  jsonAnswer,
  messagesBody,
  responsesBody,
  waitFor,
} from '../support/scripted-upstream.js';

/** $1 in and $10 out; from 272,000 prompt tokens $2 and $15. The saver group pays 0.8 of it, and of `special` 0.9. */
const MODELS = `
  - { name: tiered, context_window: 400000, max_output_tokens: 64000, groups: [default, saver], capabilities: [reasoning],
      effort_multipliers: { xhigh: 1.5 }, service_tiers: { priority: 2, flex: 0.5 }, tool_fees: { web_search: 0.01 },
      prices: [{ input: 1, output: 10 }, { from_prompt_tokens: 272000, input: 2, output: 15 }] }
  - { name: special, context_window: 400000, max_output_tokens: 64000, groups: [default, saver],
      prices: [{ input: 1, output: 10, image_input: 3, audio_input: 5, audio_output: 20 }] }`;

const catalog = (baseUrl: string): string =>
  catalogFor(baseUrl)
    .replace('multiplier: 0.8 }', 'multiplier: 0.8, models: { special: 0.9 } }')
    .replace('\nmodels:', `\nmodels:${MODELS}`)
    // Unknown ids are held for as well.
    .replaceAll('nativeOnly: true', 'nativeOnly: true, sharedState: true')
    .replaceAll('models: { m:', 'models: { tiered: vendor-tiered, special: vendor-special, m:');

type Effort = 'low' | 'xhigh';

/** Each protocol's own fields for an effort; Messages has a name and a budget for it. */
const EFFORT_FIELDS: readonly (readonly [string, ProtocolEndpoint, Readonly<Record<Effort, JsonObject>>])[] = [
  [
    'reasoning.effort',
    'responses',
    { low: { reasoning: { effort: 'low' } }, xhigh: { reasoning: { effort: 'xhigh' } } },
  ],
  ['reasoning_effort', 'chat-completions', { low: { reasoning_effort: 'low' }, xhigh: { reasoning_effort: 'xhigh' } }],
  [
    'output_config.effort',
    'messages',
    { low: { output_config: { effort: 'low' } }, xhigh: { output_config: { effort: 'xhigh' } } },
  ],
  [
    'thinking.budget_tokens',
    'messages',
    {
      low: { max_tokens: 50_000, thinking: { type: 'enabled', budget_tokens: 4_096 } },
      xhigh: { max_tokens: 50_000, thinking: { type: 'enabled', budget_tokens: 40_000 } },
    },
  ],
];

/*
 * 1,000 completion tokens each time, and no cache.
 *   1k    1,000 × $1/M + 1,000 × $10/M   = $0.001 + $0.01  = $0.011
 *   300k  300,000 × $2/M + 1,000 × $15/M = $0.6 + $0.015   = $0.615
 * xhigh is 1.5 times that: $0.0165 and $0.9225; the saver group pays 0.8 times: $0.0088, $0.0132, $0.492, $0.738.
 */
const TABLE: readonly (readonly [promptTokens: number, Effort, group: 'default' | 'saver', nanos: string])[] = [
  [1_000, 'low', 'default', '11000000'],
  [1_000, 'xhigh', 'default', '16500000'],
  [1_000, 'low', 'saver', '8800000'],
  [1_000, 'xhigh', 'saver', '13200000'],
  [300_000, 'low', 'default', '615000000'],
  [300_000, 'xhigh', 'default', '922500000'],
  [300_000, 'low', 'saver', '492000000'],
  [300_000, 'xhigh', 'saver', '738000000'],
];

const promptOf = (protocol: ProtocolEndpoint, content: string): JsonObject =>
  protocol === 'responses' ? { input: content } : { messages: [{ role: 'user', content }] };

/** A whole response of a protocol, with more in it. */
const responseWith = (
  protocol: ProtocolEndpoint,
  more: JsonObject,
  usage: JsonObject = {},
): ReturnType<typeof jsonAnswer> => {
  const body = { 'chat-completions': chatBody, messages: messagesBody, responses: responsesBody }[protocol]();
  return jsonAnswer(200, { ...body, ...more, usage: { ...(body['usage'] as JsonObject), ...usage } });
};

describe('prices', () => {
  let relay: RelayApp;
  let callers: Readonly<Record<'default' | 'saver', TestCaller>>;
  beforeAll(async () => {
    relay = await RelayApp.start();
    await relay.applyCatalog(catalog(relay.upstream.url));
    callers = {
      default: await relay.caller({ credit: '100' }),
      saver: await relay.caller({ credit: '100', group: 'saver' }),
    };
  });
  afterAll(() => relay.close());
  afterEach(() => relay.upstream.reset());

  const send = (protocol: ProtocolEndpoint, body: JsonObject, caller = callers.default): Promise<Response> =>
    relay.post(PATHS[protocol], caller.key, aRequest(protocol, { model: 'tiered', ...body }));
  const rowOf = async (response: Response, caller = callers.default): Promise<StoredCall> => {
    expect([response.status, await response.text()]).toEqual([200, expect.any(String)]);
    const rows = await relay.calls(caller);
    return rows.find(({ id }) => id === response.headers.get('x-request-id'))!;
  };

  describe.each(EFFORT_FIELDS)('with the effort in %s', (_, protocol, fields) => {
    it.each(TABLE)('%d prompt tokens at %s effort in the group %s cost %s nano-dollars', async (...row) => {
      const [prompt, effort, group, nanos] = row;
      relay.upstream.script(responseIn(protocol, { usage: { prompt, completion: 1_000 } }));
      const request = { ...fields[effort], ...promptOf(protocol, 'hello '.repeat(prompt / 6)) };
      const call = await rowOf(await send(protocol, request, callers[group]), callers[group]);
      expect(call).toMatchObject({ cost: nanos, uncollected: '0', effort, prompt_tokens: String(prompt) });
    });
  });

  describe.each(PROTOCOLS)('the service tier in %s', (protocol) => {
    const tierIn = (tier: string): JsonObject => (protocol === 'messages' ? {} : { service_tier: tier });
    const usageIn = (tier: string): JsonObject => (protocol === 'messages' ? { service_tier: tier } : {});

    it.each([
      // 9 × $1/M + 2 × $10/M = $0.000029
      ['auto', 'default', '29000'],
      ['auto', 'priority', '58000'],
      ['auto', 'flex', '14500'],
      ['priority', 'priority', '58000'],
      ['priority', 'default', '29000'],
      ['flex', 'priority', '14500'],
      ['default', 'default', '29000'],
    ])('asked for as %s and answered as %s costs %s nano-dollars', async (requested, given, nanos) => {
      relay.upstream.script(responseWith(protocol, tierIn(given), usageIn(given)));
      expect(await rowOf(await send(protocol, { service_tier: requested }))).toMatchObject({ cost: nanos });
    });

    it('is refused by its name when the model has no price for it', async () => {
      for (const body of [{ service_tier: 'scale' }, { model: 'm', service_tier: 'priority' }]) {
        const caller = await relay.caller();
        const response = await send(protocol, body, caller);
        await expectError(protocol, response, INVALID_REQUEST, { param: 'service_tier' });
        await expectFreeRow(relay, caller, response, { status: 'refused', error_reason: 'invalid_request' });
      }
      expect(relay.upstream.requests).toHaveLength(0);
    });

    it('is no word for a model without tiers where it asks for nothing dearer', async () => {
      for (const tier of ['auto', 'standard_only'])
        expect((await send(protocol, { model: 'm', service_tier: tier })).status).toBe(200);
    });

    // See background-responses.spec.ts for Responses, which has them.
    if (protocol !== 'responses')
      it('in the background is refused by that name', async () => {
        const caller = await relay.caller();
        const response = await send(protocol, { background: true }, caller);
        await expectError(protocol, response, INVALID_REQUEST, { param: 'background', code: 'unsupported_parameter' });
        await expectFreeRow(relay, caller, response, { status: 'refused', error_reason: 'invalid_request' });
        expect(relay.upstream.requests).toHaveLength(0);
      });
  });

  it.each([
    ['responses', {}, { output: [{ type: 'web_search_call' }, { type: 'web_search_call' }] }, {}, 2],
    ['messages', {}, {}, { server_tool_use: { web_search_requests: 2 } }, 2],
    ['chat-completions', { web_search_options: {} }, { annotations: [{ type: 'url_citation' }] }, {}, 1],
  ] as const)(
    'charges tools of %s by the use, on a line of their own',
    async (protocol, requested, more, usage, count) => {
      relay.upstream.script(responseWith(protocol, more, usage));
      const row = await rowOf(await send(protocol, requested));
      // 9 × $1/M + 2 × $10/M, and $0.01 a search
      expect(row).toMatchObject({ cost: String(29_000 + count * 10_000_000) });
      expect(row['lines']).toEqual([
        { item: 'input', quantity: 9, price: '1' },
        { item: 'output', quantity: 2, price: '10' },
        { item: 'tool:web_search', quantity: count, price: '0.01' },
      ]);
      expect(row['snapshot']).toMatchObject({ tool_fees: { web_search: '0.01' }, service_tier_multiplier: '1' });
    },
  );

  it('charges images and sounds at their own prices, and a group at its price for the model', async () => {
    const details = {
      prompt_tokens: 1000,
      prompt_tokens_details: { image_tokens: 300, audio_tokens: 200, cached_tokens: 0 },
      completion_tokens: 50,
      completion_tokens_details: { audio_tokens: 40 },
    };
    relay.upstream.script(responseWith('chat-completions', {}, details));
    const row = await rowOf(await send('chat-completions', { model: 'special' }, callers.saver), callers.saver);
    // 500 × $1 + 300 × $3 + 200 × $5 + 10 × $10 + 40 × $20 = 500 + 900 + 1,000 + 100 + 800 = $3,300/M × 0.9
    expect(row).toMatchObject({ cost: '2970000', group_name: 'saver' });
    expect(row['snapshot']).toMatchObject({ group_multiplier: '0.9' });
  });

  it('holds for what a call continues when it is known, and else for the context window', async () => {
    const caller = await relay.caller();
    relay.upstream.script(responseWith('responses', { id: 'resp_known' }, { input_tokens: 5000, output_tokens: 1000 }));
    await rowOf(await send('responses', { model: 'm' }, caller), caller);
    await relay.upstream.nextRequest();
    const before = Number((await relay.wallet(caller)).balance);
    const heldFor = async (request: JsonObject, by = caller): Promise<[string, number]> => {
      const answered = gate();
      relay.upstream.script([waitFor(answered), responseIn('responses')]);
      const body = JSON.stringify(aRequest('responses', { max_output_tokens: 100, ...request }));
      const response = relay.post(PATHS.responses, by.key, body);
      await relay.upstream.nextRequest();
      const { held } = await relay.wallet(by);
      answered.open();
      await (await response).text();
      return [held, Buffer.byteLength(body)];
    };
    const usd = (promptTokens: number): number => promptTokens / 1e6 + 100 * 1e-5;
    const [known, bytes] = await heldFor({ previous_response_id: 'resp_known' });
    // The body has fewer tokens than bytes, and more than a third of that.
    expect(Number(known)).toBeGreaterThan(usd(6000 + bytes / 3));
    expect(Number(known)).toBeLessThan(usd(6000 + bytes));
    const [unknown] = await heldFor({ previous_response_id: 'resp_other' });
    expect(Number(unknown)).toBeCloseTo(usd(200_000), 9);
    // Ids say nothing to others.
    const otherUser = await relay.caller();
    expect(Number((await heldFor({ previous_response_id: 'resp_known' }, otherUser))[0])).toBeCloseTo(usd(200_000), 9);
    const [file] = await heldFor({ input: [{ role: 'user', content: [{ type: 'input_file', file_id: 'file_1' }] }] });
    expect(Number(file)).toBeCloseTo(usd(200_000), 9);
    // Held, not charged: 9 × $1/M + 2 × $10/M each.
    expect(Number((await relay.wallet(caller)).balance)).toBeCloseTo(before - 3 * 0.000029, 9);
  });

  it('admits and charges at prices that have come into force since the catalog was read', async () => {
    const begins = new Date(Date.now() + 1500).toISOString();
    const text = catalog(relay.upstream.url)
      .replace('image_input: 3', 'image_input: 4')
      .replace('input: 1, output: 10, image', 'input: 7, output: 10, image');
    await relay.applyCatalog(text.replace('{ name: special,', `{ name: special, valid_from: "${begins}",`));
    const inputNow = (): bigint | undefined =>
      relay.get(CatalogService).current().models.get('special')?.pricing.tiers[0]?.prices.input;
    await eventually(() => expect(inputNow()).toBe(7_000_000_000n), 10_000);
    relay.upstream.script(responseIn('responses', { usage: { prompt: 1000, completion: 100 } }));
    // 1,000 × $7/M + 100 × $10/M
    expect(await rowOf(await send('responses', { model: 'special' }))).toMatchObject({ cost: '8000000' });
  });

  it('leaves an exact ledger behind', async () => {
    expect(await relay.ledger()).toEqual({ exact: true, differences: [] });
  });
});
