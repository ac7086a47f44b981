import { ApiKeyService } from '../../src/keys/index.js';
import { clientOf } from '../conformance/protocols/index.js';
import { expectError, INVALID_REQUEST, UPSTREAM_ERROR } from '../support/api-errors.js';
import { PROTOCOLS, PATHS } from '../support/protocols.js';
import type { NeutralRequest } from '../support/neutral-request.js';
import { NAMED_PAIRS } from '../support/pairs.js';
import { continued } from '../support/replies.js';
import { RelayApp, type TestCaller } from '../support/relay-app.js';
import {
  responseIn,
  destroy,
  type ProtocolEndpoint,
  ENCRYPTED_REASONING,
  errorResponse,
  eventsAround,
  eventsIn,
  type JsonObject,
  type Script,
  sse,
  streamHead,
  THINKING_SIGNATURE,
  WEATHER_CALL,
} from '../support/scripted-upstream.js';
import { readStream, requestIn } from '../support/protocol-doubles.js';
import { readEvents, withoutKeepAlives } from '../support/stream-text.js';

const HELLO: NeutralRequest = { turns: [{ by: 'user', text: 'Hello' }], outputLimit: 500 };

/** `<first>-then-<second>` is served by a channel of one protocol, and behind it by one of another. */
const tiers = (baseUrl: string): string => `
models:
${NAMED_PAIRS.map(
  ([, { client: first, upstream: second }]) => `
  - { name: ${first}-then-${second}, context_window: 200000, max_output_tokens: 64000, groups: [default],
      speeds: { fast: 1 }, geos: { us: 1 },
      prices: [{ from_prompt_tokens: 0, input: 1, output: 10 }] }`,
).join('')}
channels:
${PROTOCOLS.flatMap((protocol) => [
  `  - { name: first-${protocol}, protocol: ${protocol}, base_url: "${baseUrl}", credentials: [x], tier: 1, flags: { family: one, reasoning: true }, models: { ${PROTOCOLS.map((second) => `${protocol}-then-${second}: first`).join(', ')} } }`,
  `  - { name: second-${protocol}, protocol: ${protocol}, base_url: "${baseUrl}", credentials: [x], tier: 2, flags: { family: two, reasoning: true }, models: { ${PROTOCOLS.map((first) => `${first}-then-${protocol}: second`).join(', ')} } }`,
]).join('\n')}
`;

let relay: RelayApp;
let caller: TestCaller;
beforeAll(async () => {
  relay = await RelayApp.start({ preludeMs: 20_000 });
  await relay.applyCatalog(tiers(relay.upstream.url));
});
afterAll(() => relay.close());
beforeEach(async () => (caller = await relay.caller({ credit: '1000' })));
afterEach(() => relay.upstream.reset());

const post = (
  client: ProtocolEndpoint,
  model: string,
  request: JsonObject = requestIn(client, HELLO),
): Promise<Response> => {
  const usage = client === 'chat-completions' ? { stream_options: { include_usage: true } } : {};
  return relay.post(PATHS[client], caller.key, { ...request, ...usage, model, stream: true });
};

describe.each(NAMED_PAIRS)(
  'a channel of one protocol fails, another answers: %s',
  (_, { client: first, upstream: second }) => {
    const model = `${first}-then-${second}`;
    const prelude = eventsIn(first).slice(0, 1);
    const faults: [string, Script][] = [
      ['refuses with 500', errorResponse(first, 500)],
      ['breaks behind its first event', [streamHead(), sse(prelude), destroy('close')]],
    ];

    it.each(faults)('one that %s leaves no trace in the response (case 101)', async (__, fault) => {
      for (const client of PROTOCOLS) {
        caller = await relay.caller();
        relay.upstream.scriptNext(fault);
        relay.upstream.script(responseIn(second, { text: ['Hello ', 'there'], toolCalls: [WEATHER_CALL] }));
        const received = readStream(client, await (await post(client, model)).text());
        expect([client, received]).toMatchObject([client, { text: 'Hello there', stop: 'tools' }]);
        expect(await relay.onlyCall(caller)).toMatchObject({ status: 'succeeded', attempts: 2 });
      }
    });

    it('does not fail over after the first content (case 102)', async () => {
      const { until } = eventsAround(eventsIn(first, { text: ['Hello ', 'there'] }), 'Hello ');
      for (const client of PROTOCOLS) {
        caller = await relay.caller();
        relay.upstream.scriptNext([streamHead(), sse(until), destroy('close')]);
        const events = readEvents(withoutKeepAlives(await (await post(client, model)).text()));
        const { failureEvents = 1, ...played } = clientOf(client);

        played.expectFailure(events.slice(0, -failureEvents), events.slice(-failureEvents));
        expect(await relay.onlyCall(caller)).toMatchObject({ status: 'failed', attempts: 1 });
      }
    });
  },
);

describe('a request that a channel of another protocol does not support', () => {
  const twice = { ...requestIn('chat-completions', HELLO), n: 2 };

  it('is asked of the next one that can be', async () => {
    relay.upstream.script(responseIn('chat-completions'));
    const response = await post('chat-completions', 'messages-then-chat-completions', twice);
    await response.text();
    expect([response.status, relay.upstream.requests.map(({ json }) => json['n'])]).toEqual([200, [2]]);
    expect(await relay.onlyCall(caller)).toMatchObject({ status: 'succeeded', attempts: 1 });
  });

  it('is no reason to hide why one that was asked has failed', async () => {
    relay.upstream.script(errorResponse('chat-completions', 500));
    const response = await post('chat-completions', 'chat-completions-then-messages', twice);
    await expectError('chat-completions', response, UPSTREAM_ERROR);
    expect(relay.upstream.requests).toHaveLength(1);
  });

  it('is refused when there is no other channel, without an upstream request', async () => {
    const response = await post('chat-completions', 'messages-then-responses', twice);
    await expectError('chat-completions', response, INVALID_REQUEST, { param: 'n', code: 'unsupported_parameter' });
    expect(relay.upstream.requests).toEqual([]);
  });
});

describe('translation warnings of a failed channel', () => {
  const lost = { logit_bias: { '1': 5 } };
  const warningsOf = async (model: string, second: ProtocolEndpoint): Promise<string | null> => {
    relay.upstream.scriptNext(errorResponse('messages', 500));
    relay.upstream.script(responseIn(second));
    const response = await post('chat-completions', model, { ...requestIn('chat-completions', HELLO), ...lost });
    await response.text();
    return response.headers.get('x-relay-warnings');
  };

  it('is not told of a response of one that takes the request as it is', async () => {
    expect(await warningsOf('messages-then-chat-completions', 'chat-completions')).toBeNull();
  });

  it('are reported once when the next channel has the same warning', async () => {
    expect(await warningsOf('messages-then-responses', 'responses')).toMatch(/^[^,]*:logit_bias$/);
  });
});

describe.each(PROTOCOLS)('an upstream of the client’s own protocol answers in another form: %s', (protocol) => {
  const model = `${protocol}-then-${protocol}`;
  /** What a translation loses, and what it refuses, of the request; the request itself goes up as it is. */
  const loses = { messages: { speed: 'fast' }, responses: { truncation: 'auto' }, 'chat-completions': { top_k: 5 } };
  const refuses = {
    messages: { inference_geo: 'us' },
    responses: { access_programs: ['x'] },
    'chat-completions': { n: 2 },
  };
  const ask = (stream: boolean, more: JsonObject, key = caller.key): Promise<Response> =>
    relay.post(PATHS[protocol], key, { ...requestIn(protocol, HELLO), model, stream, ...more });
  const hello = (stream: boolean): Script => responseIn(protocol, { text: 'Hello there', stream });

  it.each([true, false])('a strict key gets it, since nothing of its request was lost: stream %s', async (stream) => {
    const { accountId } = caller;
    const { secret } = await relay.get(ApiKeyService).create({ accountId, name: 'strict', strict: true });
    relay.upstream.script(hello(!stream));
    const response = await ask(stream, loses[protocol], secret.reveal());
    expect([response.status, response.headers.get('x-relay-warnings')]).toEqual([200, null]);
    expect(await response.text()).toContain('Hello there');
  });

  it.each([true, false])('another one is asked where the request cannot be read here: stream %s', async (stream) => {
    relay.upstream.scriptNext(hello(!stream), hello(stream));
    const response = await ask(stream, refuses[protocol]);
    expect(await response.text()).toContain('Hello there');
    expect(await relay.onlyCall(caller)).toMatchObject({ status: 'succeeded', attempts: 2 });
  });

  it.each([true, false])('upstreams are at fault when all of them do: stream %s', async (stream) => {
    relay.upstream.script(hello(!stream));
    await expectError(protocol, await ask(stream, refuses[protocol]), UPSTREAM_ERROR);
  });
});

describe('reasoning that was sealed', () => {
  const thinking = { thinking: { type: 'adaptive', display: 'summarized' } };
  const wanting: Readonly<Record<ProtocolEndpoint, JsonObject>> = {
    messages: thinking,
    responses: { reasoning: { summary: 'auto' }, include: ['reasoning.encrypted_content'] },
    'chat-completions': {},
  };

  async function secondTurn(
    client: ProtocolEndpoint,
    upstream: ProtocolEndpoint,
    edit: (response: string) => string,
  ): Promise<string> {
    const requested: NeutralRequest = {
      ...HELLO,
      tools: [{ name: 'get_weather', schema: { type: 'object', properties: {} } }],
    };
    const request = { ...requestIn(client, requested), ...wanting[client] };
    const model = `${upstream}-then-${upstream}`;
    relay.upstream.script(responseIn(upstream, { reasoning: 'Oslo it is.', toolCalls: [WEATHER_CALL] }));
    const response = edit(await (await post(client, model, request)).text());
    const second = continued(client, request, response, WEATHER_CALL.id);
    return (await post(client, model, second)).text().then(() => relay.upstream.requests.at(-1)!.body.toString());
  }
  const SIGNS = { messages: THINKING_SIGNATURE, responses: ENCRYPTED_REASONING };

  const pairs = [
    ['responses', 'messages'],
    ['messages', 'responses'],
  ] as const;

  it.each(pairs)('comes back as it was: %s over %s (cases 79 and 80)', async (client, upstream) => {
    expect(await secondTurn(client, upstream, (response) => response)).toContain(SIGNS[upstream]);
  });

  it.each(pairs)(
    'is dropped when it was changed, and the call continues: %s over %s (case 79)',
    async (client, upstream) => {
      const body = await secondTurn(client, upstream, (response) => response.replaceAll(/rly1\../g, 'rly1.A'));
      expect(body).toContain('Snow.');
      expect(body).not.toContain(SIGNS[upstream]);
      expect(body).not.toContain('rly1.');
    },
  );

  it.each(pairs)('is not given to another family: %s over %s (case 83)', async (client, upstream) => {
    const requested = requestIn(client, HELLO);
    const model = `${upstream}-then-${upstream}`;
    relay.upstream.script(responseIn(upstream, { reasoning: 'Oslo it is.', toolCalls: [WEATHER_CALL] }));
    const request = { ...requested, ...wanting[client] };
    const response = await (await post(client, model, request)).text();
    relay.upstream.scriptNext(errorResponse(upstream, 500));
    await (await post(client, model, continued(client, request, response, WEATHER_CALL.id))).text();
    const [, first, second] = relay.upstream.requests.map(({ body }) => body.toString());
    expect([first!.includes(SIGNS[upstream]), second!.includes(SIGNS[upstream])]).toEqual([true, false]);
  });
});
