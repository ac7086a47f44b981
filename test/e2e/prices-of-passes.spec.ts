import { aRequest, PATHS } from '../support/dialects.js';
import { catalogFor, RelayApp, type StoredCall, type TestCaller } from '../support/relay-app.js';
import {
  type Dialect,
  type JsonObject,
  jsonAnswer,
  messagesBody,
  responsesBody,
  sse,
  streamHead,
} from '../support/scripted-upstream.js';

/** $1 in and $10 out, twice that from 100,000 prompt tokens on; in the US 1.1 times. */
const PRICED = `{ context_window: 400000, max_output_tokens: 64000, groups: [default, saver], name: NAME,
      geos: { us: 1.1 }, tool_fees: { web_search: 0.01 }, image_generation: { text_input: 5, image_output: 30 },
      prices: [{ input: 1, output: 10, cache_write_12h: 3 }, { from_prompt_tokens: 100000, input: 2, output: 20 }] }`;

const catalog = (baseUrl: string): string =>
  catalogFor(baseUrl)
    .replace(
      '\nmodels:',
      `\nmodels:\n  - ${PRICED.replace('NAME', 'priced')}\n  - ${PRICED.replace('NAME', 'translated')}`,
    )
    .replaceAll('models: { m:', 'models: { priced: vendor-priced, m:')
    .concat(
      `  - { name: open, protocol: messages, base_url: "${baseUrl}", credentials: [secret-of-open],
      models: { translated: vendor-translated } }\n`,
    );

const counts = (input_tokens: number, output_tokens: number): JsonObject => ({
  input_tokens,
  output_tokens,
  cache_read_input_tokens: 0,
  cache_creation_input_tokens: 0,
});
const COMPACTED: JsonObject = {
  ...counts(2_000, 100),
  iterations: [
    { type: 'compaction', ...counts(150_000, 1_000) },
    { type: 'message', model: null, ...counts(2_000, 100) },
  ],
};
/** 2,000 × $1/M + 100 × $10/M, and in the tier of its own prompt 150,000 × $2/M + 1,000 × $20/M */
const COMPACTED_COST = '323000000';
const COMPACTED_LINES = [
  { item: 'input', quantity: 2_000, price: '1' },
  { item: 'output', quantity: 100, price: '10' },
  { item: 'input', quantity: 150_000, price: '2', pass: 1, model: 'MODEL' },
  { item: 'output', quantity: 1_000, price: '20', pass: 1, model: 'MODEL' },
];
const linesOf = (model: string): object[] =>
  COMPACTED_LINES.map((line) => ('model' in line ? { ...line, model } : line));

describe('prices of what an upstream bills beside its totals', () => {
  let relay: RelayApp;
  let caller: TestCaller;
  beforeAll(async () => {
    relay = await RelayApp.start();
    await relay.applyCatalog(catalog(relay.upstream.url));
    caller = await relay.caller({ credit: '100' });
  });
  afterAll(() => relay.close());
  afterEach(() => relay.upstream.reset());

  const send = async (dialect: Dialect, model: string, more: JsonObject = {}): Promise<[JsonObject, StoredCall]> => {
    const response = await relay.post(PATHS[dialect], caller.key, aRequest(dialect, { model, ...more }));
    const text = await response.text();
    expect([response.status, text]).toEqual([200, expect.any(String)]);
    const rows = await relay.calls(caller);
    const row = rows.find(({ id }) => id === response.headers.get('x-request-id'));
    return [more['stream'] === true ? { text } : (JSON.parse(text) as JsonObject), row!];
  };
  const messagesWith = (usage: JsonObject) => jsonAnswer(200, { ...messagesBody(), usage });
  const responsesWith = (more: JsonObject) => jsonAnswer(200, { ...responsesBody(), ...more });

  it('charges a compaction in the tier of its own prompt, on lines of its own', async () => {
    relay.upstream.script(messagesWith(COMPACTED));
    const [body, row] = await send('messages', 'priced');
    expect(row).toMatchObject({ cost: COMPACTED_COST, prompt_tokens: '152000', completion_tokens: '1100' });
    expect(row['lines']).toEqual(linesOf('priced'));
    expect(body['usage']).toEqual(COMPACTED);
  });

  it('charges a compaction that a stream reports with its last event', async () => {
    const events = [
      { type: 'message_start', message: { ...messagesBody(), content: [], usage: counts(2_000, 1) } },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hello.' } },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: COMPACTED },
      { type: 'message_stop' },
    ];
    const named = events.map((data) => ({ event: data.type, data }));
    relay.upstream.script([streamHead(), sse(named)]);
    expect((await send('messages', 'priced', { stream: true }))[1]).toMatchObject({ cost: COMPACTED_COST });
  });

  it.each(['chat-completions', 'responses'] as const)(
    'includes passes in the totals when a client of %s is translated for Messages',
    async (dialect) => {
      relay.upstream.script(messagesWith(COMPACTED));
      const [body, row] = await send(dialect, 'translated');
      expect(row).toMatchObject({ cost: COMPACTED_COST });
      expect(row['lines']).toEqual(linesOf('translated'));
      expect(body['usage']).toMatchObject({ total_tokens: 153_100 });
    },
  );

  it('charges a pass of a model that nobody asked for at the price of the one that was', async () => {
    const iterations = [
      { type: 'advisor_message', model: 'vendor-unknown', ...counts(500, 10) },
      { type: 'message', model: 'vendor-priced', ...counts(1_000, 10) },
    ];
    relay.upstream.script(messagesWith({ ...counts(1_000, 10), iterations }));
    const [, row] = await send('messages', 'priced');
    // 1,500 × $1/M + 20 × $10/M
    expect(row).toMatchObject({ cost: '1700000' });
    expect(row['lines']).toContainEqual({ item: 'input', quantity: 500, price: '1', pass: 1, model: 'priced' });
  });

  it('charges the region that the upstream chose and reports', async () => {
    for (const [inference_geo, cost] of [
      ['us', '2200000'],
      ['global', '2000000'],
      ['not_available', '2000000'],
    ]) {
      relay.upstream.script(messagesWith({ ...counts(1_000, 100), inference_geo }));
      expect((await send('messages', 'priced'))[1]).toMatchObject({ cost });
    }
  });

  it('charges no speed that was not asked for', async () => {
    relay.upstream.script(messagesWith({ ...counts(1_000, 100), speed: 'fast' }));
    expect((await send('messages', 'priced'))[1]).toMatchObject({ cost: '2000000' });
  });

  it('charges generated images, billable searches and writes to a cache of 12 hours', async () => {
    const details = { cached_tokens: 0, cache_write_tokens: 500, cache_write_tokens_details: { ttl_12h_tokens: 400 } };
    relay.upstream.script(
      responsesWith({
        output: [{ type: 'web_search_call' }, { type: 'web_search_call' }],
        usage: { input_tokens: 1_000, input_tokens_details: details, output_tokens: 10 },
        tool_usage: {
          web_search: { num_requests: 1 },
          image_gen: { input_tokens: 100, output_tokens: 1_000, input_tokens_details: { text_tokens: 100 } },
        },
      }),
    );
    const [, row] = await send('responses', 'priced');
    expect(row['lines']).toEqual([
      { item: 'input', quantity: 500, price: '1' },
      { item: 'cache_write_5m', quantity: 100, price: '1' },
      { item: 'cache_write_12h', quantity: 400, price: '3' },
      { item: 'output', quantity: 10, price: '10' },
      { item: 'image_generation:text_input', quantity: 100, price: '5' },
      { item: 'image_generation:image_output', quantity: 1_000, price: '30' },
      { item: 'tool:web_search', quantity: 1, price: '0.01' },
    ]);
    // $0.0005 + $0.0001 + $0.0012 + $0.0001 + $0.0005 + $0.03 + $0.01
    expect(row).toMatchObject({ cost: '42400000', cache_write_tokens: '500' });
  });

  it('charges the images of an answer that is too long to keep', async () => {
    const image = { type: 'image_generation_call', status: 'completed', result: 'A'.repeat(9 * 1024 * 1024) };
    const tool_usage = { image_gen: { input_tokens: 0, output_tokens: 1_000 } };
    relay.upstream.script(
      responsesWith({ output: [image], tool_usage, usage: { input_tokens: 1_000, output_tokens: 10 } }),
    );
    const [, row] = await send('responses', 'priced');
    // 1,000 × $1/M + 10 × $10/M + 1,000 × $30/M
    expect(row).toMatchObject({ cost: '31100000' });
  });

  it('tells its client of each pass on the call', async () => {
    relay.upstream.script(messagesWith({ ...COMPACTED, inference_geo: 'us' }));
    const [, { id }] = await send('messages', 'priced');
    const response = await fetch(`${relay.url}/v1/generations/${id}`, {
      headers: { authorization: `Bearer ${caller.key}` },
    });
    const generation = (await response.json()) as { lines: object[]; multipliers: object };
    expect(generation.lines).toContainEqual({
      item: 'input',
      quantity: 150_000,
      price_usd: '2',
      per: 'million_tokens',
      pass: 1,
      model: 'priced',
    });
    expect(generation.multipliers).toEqual({ service_tier: '1', geo: '1.1', effort: '1', group: '1' });
  });

  it('leaves an exact ledger behind', async () => {
    expect(await relay.ledger()).toEqual({ exact: true, differences: [] });
  });
});
