import type { ClientDouble } from '../conformance/client-double.js';
import { clientOf, vendorOf } from '../conformance/protocols/index.js';
import { telegraphClient } from '../conformance/toy/client.js';
import { TelegraphModule } from '../conformance/toy/telegraph.module.js';
import { telegraphVendor } from '../conformance/toy/vendor.js';
import type { VendorDouble } from '../conformance/vendor-double.js';
import { type NeutralRequest, neutralRequestOf } from '../support/neutral-request.js';
import type { NeutralResponse } from '../support/neutral-response.js';
import { RelayApp, type TestCaller } from '../support/relay-app.js';
import { type AnswerOptions, responseOf, jsonAnswer, WEATHER_CALL } from '../support/scripted-responses.js';
import { end, type JsonObject, sse, streamHead } from '../support/scripted-steps.js';
import { readEvents } from '../support/stream-text.js';

// A protocol that the program has never heard of, registered as any other is: by its module. The whole application runs.

const CATALOG = (baseUrl: string): string => `
models:
${['messages', 'telegraph']
  .map(
    (protocol) => `
  - { name: over-${protocol}, context_window: 200000, max_output_tokens: 64000, groups: [default],
      prices: [{ from_prompt_tokens: 0, input: 1, cache_read: 0.1, output: 10 }] }`,
  )
  .join('')}
channels:
${['messages', 'telegraph']
  .map(
    (protocol) => `
  - { name: only-${protocol}, protocol: ${protocol}, base_url: "${baseUrl}", credentials: [secret-of-${protocol}],
      models: { over-${protocol}: vendor-${protocol} } }`,
  )
  .join('')}
`;

const ASKED: NeutralRequest = {
  system: 'Be brief.',
  turns: [
    { by: 'user', text: 'What is it like in Bergen and Oslo?' },
    {
      by: 'assistant',
      text: 'Let me see.',
      calls: [{ id: 'call_1', name: 'get_weather', arguments: '{"city":"Bergen"}' }],
    },
    { by: 'tool', id: 'call_1', text: 'Rain.' },
  ],
  tools: [
    {
      name: 'get_weather',
      description: 'Looks out of the window.',
      schema: { type: 'object', properties: { city: { type: 'string' } } },
    },
  ],
  toolChoice: 'auto',
  outputLimit: 500,
};
const RESPONSE: AnswerOptions = {
  text: ['Rain in ', 'Bergen ☃.'],
  toolCalls: [WEATHER_CALL],
  usage: { prompt: 1000, cacheRead: 400, completion: 200 },
};
const HEARD: NeutralResponse = {
  text: 'Rain in Bergen ☃.',
  reasoning: '',
  refusal: '',
  calls: ['call_9 get_weather {"city":"Oslo"}'],
  stop: 'tools',
  usage: { prompt: 1000, cacheRead: 400, completion: 200, reasoning: 0 },
};

describe('a protocol that a module adds', () => {
  let relay: RelayApp;
  let caller: TestCaller;
  beforeAll(async () => {
    relay = await RelayApp.start({}, {}, undefined, undefined, [TelegraphModule]);
    await relay.applyCatalog(CATALOG(relay.upstream.url));
  });
  afterAll(() => relay.close());
  beforeEach(async () => (caller = await relay.caller()));
  afterEach(() => relay.upstream.reset());

  const post = (client: ClientDouble, vendor: VendorDouble, stream: boolean): Promise<Response> =>
    relay.post(client.path, caller.key, { model: `over-${vendor.id}`, ...client.request(ASKED, stream), stream });

  const PAIRS: readonly [string, ClientDouble, VendorDouble][] = [
    ['its client over Messages', telegraphClient, vendorOf('messages')],
    ['a client of Chat Completions over its vendor', clientOf('chat-completions'), telegraphVendor],
    ['its client over its vendor', telegraphClient, telegraphVendor],
  ];

  describe.each(PAIRS)('%s', (_, client, vendor) => {
    it.each([false, true])('gets the response to its request, and is charged once (streamed: %s)', async (stream) => {
      relay.upstream.script(responseOf(vendor, RESPONSE));
      const response = await post(client, vendor, stream);
      const answer = await response.text();
      expect([response.status, answer]).toEqual([200, expect.anything()]);
      expect(stream ? client.readStream(answer) : client.readResponse(JSON.parse(answer) as JsonObject)).toEqual(HEARD);
      const request = relay.upstream.requests.at(-1)!.json;
      expect(neutralRequestOf(vendor, request)).toEqual(ASKED);
      expect(request).toMatchObject({ model: `vendor-${vendor.id}` });
      expect(await relay.onlyCall(caller)).toMatchObject({
        protocol: client.id,
        status: 'succeeded',
        billing_basis: 'reported',
        // 600 × $1/M + 400 × $0.1/M + 200 × $10/M.
        cost: '2640000',
        prompt_tokens: '1000',
        cached_tokens: '400',
        completion_tokens: '200',
      });
    });
  });

  it('words a missing key, an unknown model and a wrong request as its clients read errors', async () => {
    const { path } = telegraphClient;
    const hello = { lines: [{ from: 'user', text: 'Hello' }] };
    const responses = [
      await relay.post(path, 'sk-none', { model: 'over-messages', ...hello }),
      await relay.post(path, caller.key, { model: 'nothing', ...hello }),
      await relay.post(path, caller.key, { model: 'over-messages' }),
    ];
    const bodies = (await Promise.all(responses.map((response) => response.json()))) as { error: JsonObject }[];
    expect(bodies.map(({ error }) => error['status'])).toEqual([401, 404, 400]);
    expect(bodies[2]!.error).toMatchObject({ param: 'lines', message: expect.stringContaining('request id: req_') });
  });

  it('says so when the response of its vendor breaks off, or is an error', async () => {
    const [first, ...others] = telegraphVendor.events(RESPONSE);
    relay.upstream.script([streamHead(), sse([first!, ...others.slice(0, -1)]), end()]);
    const broken = await post(telegraphClient, telegraphVendor, true);
    const events = readEvents(await broken.text());
    telegraphClient.expectFailure(events.slice(0, -1), events.slice(-1));

    relay.upstream.script(jsonAnswer(400, telegraphVendor.errorBody(400, 'The wire is wet.')));
    const refused = await post(clientOf('chat-completions'), telegraphVendor, false);
    expect(await refused.json()).toMatchObject({ error: { message: expect.stringContaining('The wire is wet.') } });
    expect((await relay.calls(caller)).map(({ status }) => status)).toEqual(['failed', 'failed']);
  });

  it('names what gets lost on the way to its vendor, and refuses what it must not lose', async () => {
    relay.upstream.script(responseOf(telegraphVendor));
    const messages = (content: unknown): JsonObject => ({
      model: 'over-telegraph',
      messages: [{ role: 'user', content }],
    });
    const path = '/v1/chat/completions';
    const warm = await relay.post(path, caller.key, { ...messages('Hello'), temperature: 0.2, seed: 7 });
    expect(warm.headers.get('x-relay-warnings')).toBe('unsupported_parameter:temperature');
    const image = { type: 'image_url', image_url: { url: 'https://example.com/snow.png' } };
    const seen = await relay.post(path, caller.key, messages([image]));
    expect([seen.status, await seen.text()]).toEqual([400, expect.stringContaining('reads nothing but text')]);
  });
});
