import { telegraphClient } from '../conformance/toy/client.js';
import { TelegraphModule } from '../conformance/toy/telegraph.module.js';
import { telegraphVendor } from '../conformance/toy/vendor.js';
import { type Asked, askedIn, requestIn } from '../support/asked.js';
import { type Heard, heardIn, heardStreamed } from '../support/heard.js';
import { RelayApp, type TestCaller } from '../support/relay-app.js';
import { answerScript } from '../support/scripted-content.js';
import {
  type AnswerOptions,
  answerIn,
  end,
  jsonAnswer,
  type JsonObject,
  sse,
  streamHead,
  type Script,
  WEATHER_CALL,
} from '../support/scripted-upstream.js';
import { readEvents } from '../support/stream-text.js';

// A dialect that the program has never heard of, registered as any other is: by its module. The whole application runs.

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

const ASKED: Asked = {
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
const ANSWER: AnswerOptions = {
  text: ['Rain in ', 'Bergen ☃.'],
  toolCalls: [WEATHER_CALL],
  usage: { prompt: 1000, cacheRead: 400, completion: 200 },
};
const HEARD: Heard = {
  text: 'Rain in Bergen ☃.',
  reasoning: '',
  refusal: '',
  calls: ['call_9 get_weather {"city":"Oslo"}'],
  stop: 'tools',
  usage: { prompt: 1000, cacheRead: 400, completion: 200, reasoning: 0 },
};

/** One side of a call: a dialect that is built in, or the added one. */
interface Client {
  readonly path: string;
  request(asked: Asked, stream: boolean): JsonObject;
  hear(answer: string, stream: boolean): Heard;
}
interface Vendor {
  answer(options: AnswerOptions): Script;
  asked(request: JsonObject): object;
}

const CLIENTS: Readonly<Record<string, Client>> = {
  telegraph: {
    path: telegraphClient.path,
    request: (asked, stream) => telegraphClient.request(asked, stream),
    hear: (answer, stream) =>
      stream ? telegraphClient.heardStream(answer) : telegraphClient.heard(JSON.parse(answer) as JsonObject),
  },
  chat: {
    path: '/v1/chat/completions',
    request: (asked, stream) => ({
      ...requestIn('chat-completions', asked),
      ...(stream && { stream, stream_options: { include_usage: true } }),
    }),
    hear: (answer, stream) =>
      stream
        ? heardStreamed('chat-completions', answer)
        : heardIn('chat-completions', JSON.parse(answer) as JsonObject),
  },
};

const telegraphAnswer =
  (options: AnswerOptions): Script =>
  (request) =>
    answerScript(request, options, telegraphVendor as Parameters<typeof answerScript>[2]);

const VENDORS: Readonly<Record<string, Vendor>> = {
  telegraph: { answer: telegraphAnswer, asked: (request) => telegraphVendor.asked(request) },
  messages: {
    answer: (options) => answerIn('messages', options),
    asked: (request) => askedIn('messages', request),
  },
};

describe('a dialect that a module adds', () => {
  let relay: RelayApp;
  let caller: TestCaller;
  beforeAll(async () => {
    relay = await RelayApp.start({}, {}, undefined, undefined, [TelegraphModule]);
    await relay.applyCatalog(CATALOG(relay.upstream.url));
  });
  afterAll(() => relay.close());
  beforeEach(async () => (caller = await relay.caller()));
  afterEach(() => relay.upstream.reset());

  const post = (client: Client, vendor: string, stream: boolean): Promise<Response> =>
    relay.post(client.path, caller.key, { model: `over-${vendor}`, ...client.request(ASKED, stream) });

  const PAIRS: readonly [string, string][] = [
    ['telegraph', 'messages'],
    ['chat', 'telegraph'],
    ['telegraph', 'telegraph'],
  ];

  describe.each(PAIRS)('its client or another: %s over %s', (client, vendor) => {
    it.each([false, true])(
      'hears what was answered to what was asked, and pays for it once (streamed: %s)',
      async (stream) => {
        relay.upstream.script(VENDORS[vendor]!.answer(ANSWER));
        const response = await post(CLIENTS[client]!, vendor, stream);
        const answer = await response.text();
        expect([response.status, answer]).toEqual([200, expect.anything()]);
        expect(CLIENTS[client]!.hear(answer, stream)).toEqual(HEARD);
        const request = relay.upstream.requests.at(-1)!.json;
        expect(VENDORS[vendor]!.asked(request)).toEqual(ASKED);
        expect(request).toMatchObject({ model: `vendor-${vendor}` });
        expect(await relay.onlyCall(caller)).toMatchObject({
          protocol: CLIENTS[client]!.path === telegraphClient.path ? 'telegraph' : 'chat-completions',
          status: 'succeeded',
          billing_basis: 'reported',
          // 600 × $1/M + 400 × $0.1/M + 200 × $10/M.
          cost: '2640000',
          prompt_tokens: '1000',
          cached_tokens: '400',
          completion_tokens: '200',
        });
      },
    );
  });

  it('words a missing key, an unknown model and a wrong request as its clients read errors', async () => {
    const { path } = telegraphClient;
    const hello = { lines: [{ from: 'user', text: 'Hello' }] };
    const answers = [
      await relay.post(path, 'sk-none', { model: 'over-messages', ...hello }),
      await relay.post(path, caller.key, { model: 'nothing', ...hello }),
      await relay.post(path, caller.key, { model: 'over-messages' }),
    ];
    const bodies = (await Promise.all(answers.map((answer) => answer.json()))) as { error: JsonObject }[];
    expect(bodies.map(({ error }) => error['status'])).toEqual([401, 404, 400]);
    expect(bodies[2]!.error).toMatchObject({ param: 'lines', message: expect.stringContaining('request id: req_') });
  });

  it('says so when the answer of its vendor breaks off, or is an error', async () => {
    const [first, ...others] = telegraphVendor.events(ANSWER);
    relay.upstream.script([streamHead(), sse([first!, ...others.slice(0, -1)]), end()]);
    const broken = await post(CLIENTS['telegraph']!, 'telegraph', true);
    const events = readEvents(await broken.text());
    telegraphClient.expectFailure(events.slice(0, -1), events.slice(-1));

    relay.upstream.script(jsonAnswer(400, telegraphVendor.errorBody(400, 'The wire is wet.')));
    const refused = await post(CLIENTS['chat']!, 'telegraph', false);
    expect(await refused.json()).toMatchObject({ error: { message: expect.stringContaining('The wire is wet.') } });
    expect((await relay.calls(caller)).map(({ status }) => status)).toEqual(['failed', 'failed']);
  });

  it('names what gets lost on the way to its vendor, and refuses what it must not lose', async () => {
    relay.upstream.script(telegraphAnswer({}));
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
