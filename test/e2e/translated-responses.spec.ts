import { ApiKeyService } from '../../src/keys/index.js';
import { expectError, INVALID_REQUEST } from '../support/api-errors.js';
import type { NeutralRequest } from '../support/neutral-request.js';
import { PATHS } from '../support/protocols.js';
import type { NeutralResponse } from '../support/neutral-response.js';
import { NAMED_PAIRS } from '../support/pairs.js';
import { usePairsRelay } from '../support/pairs-relay.js';
import {
  responseIn,
  type AnswerOptions,
  type ProtocolEndpoint,
  eventsAround,
  eventsIn,
  hang,
  type JsonObject,
  type Script,
  sse,
  streamHead,
  WEATHER_CALL,
} from '../support/scripted-upstream.js';
import { responseWithoutUsage, refusalResponse, variantOf } from '../support/scripted-variants.js';
import { readResponse, readStream, requestIn } from '../support/protocol-doubles.js';

const HELLO: NeutralRequest = { turns: [{ by: 'user', text: 'Hello' }], outputLimit: 500 };
/** Where a client may say texts that end the response. */
const STOPS: Readonly<Record<ProtocolEndpoint, (stop: readonly string[]) => JsonObject>> = {
  'chat-completions': (stop) => ({ stop }),
  messages: (stop) => ({ stop_sequences: stop }),
  responses: () => ({}),
};
/** What no other protocol has a word for. */
const LOST: Readonly<Record<ProtocolEndpoint, JsonObject>> = {
  'chat-completions': { logit_bias: { '1': 5 } },
  messages: { top_k: 5 },
  responses: { truncation: 'auto' },
};

const world = usePairsRelay();
const FOREIGN_PAIRS = NAMED_PAIRS.filter(([, { client, upstream }]) => client !== upstream);
const WAYS: [string, boolean][] = [
  ['whole', false],
  ['streamed', true],
];

describe.each(FOREIGN_PAIRS)('%s', (_, { client, upstream, model }) => {
  const post = (script: Script, stream: boolean, more: JsonObject = {}, key = world.caller.key): Promise<Response> => {
    world.relay.upstream.script(script);
    const usage = client === 'chat-completions' && stream ? { stream_options: { include_usage: true } } : {};
    return world.relay.post(PATHS[client], key, { model, stream, ...usage, ...requestIn(client, HELLO), ...more });
  };
  const hearing = async (response: Response, stream: boolean): Promise<NeutralResponse> => {
    const text = await response.text();
    return stream ? readStream(client, text) : readResponse(client, JSON.parse(text) as JsonObject);
  };
  const answer = (options: AnswerOptions): Script => responseIn(upstream, options);

  describe.each(WAYS)('%s', (__, stream) => {
    it('a client is shown its own name of the model, and an id of its own protocol', async () => {
      const text = await (await post(answer({ id: 'upstream_id_7' }), stream)).text();
      expect(text).toContain(`"model":"${model}"`);
      expect(text).not.toMatch(/vendor-|upstream_id_7/);
      const prefix = { 'chat-completions': 'chatcmpl-', messages: 'msg_', responses: 'resp_' }[client];
      expect(text).toContain(`"id":"${prefix}`);
    });

    it('counts tokens written to a cache as the client’s protocol does (case 89)', async () => {
      const usage = { prompt: 1000, cacheRead: 400, cacheWrite: 100, completion: 200 };
      const received = await hearing(await post(answer({ usage }), stream), stream);
      expect(received.usage).toMatchObject({ prompt: 1000, cacheRead: 400, completion: 200 });
      expect(await world.relay.onlyCall(world.caller)).toMatchObject({
        prompt_tokens: '1000',
        cached_tokens: '400',
        cache_write_tokens: '100',
      });
    });

    it('keeps a refusal and its text (case 42)', async () => {
      const received = await hearing(await post(refusalResponse(upstream, 'I will not.'), stream), stream);
      // Messages has no part for it, but a reason to stop.
      const words =
        client === 'messages' ? { text: 'I will not.', stop: 'filter' } : { refusal: 'I will not.', stop: 'refusal' };
      expect(received).toMatchObject({ text: '', refusal: '', ...words });
    });

    it('counts tokens when the upstream reports no usage, and reports them to the client (case 92)', async () => {
      const received = await hearing(await post(responseWithoutUsage(upstream), stream), stream);
      expect(received.usage.prompt).toBeGreaterThan(0);
      const row = await world.relay.onlyCall(world.caller);
      expect(row).toMatchObject({ status: 'succeeded', billing_basis: 'estimated' });
      expect(Number(row['completion_tokens'])).toBeGreaterThan(0);
    });
  });

  it('names unsupported members in warnings, and refuses them with a strict key (case 119)', async () => {
    const wish = LOST[client];
    const [param = ''] = Object.keys(wish);
    const { status, headers } = await post(answer({}), false, wish);
    expect([status, headers.get('x-relay-warnings')]).toEqual([200, expect.stringMatching(`:${param}$`)]);
    const { secret } = await world.relay
      .get(ApiKeyService)
      .create({ accountId: world.caller.accountId, name: 'strict', strict: true });
    const refused = await post(answer({}), false, wish, secret.reveal());
    await expectError(client, refused, INVALID_REQUEST, { code: 'unsupported_parameter', param });
  });

  it('a request that cannot be read is refused at the place that is wrong, and goes nowhere', async () => {
    const name = client === 'responses' ? 'input' : 'messages';
    const refused = await post(answer({}), false, { [name]: [{ role: 'user', content: 7 }] });
    await expectError(client, refused, INVALID_REQUEST, { param: `${name}[0].content` });
    expect(world.relay.upstream.requests).toHaveLength(0);
  });

  const itWithStops = client === 'responses' ? it.skip : it;
  itWithStops(
    'a text that ends the answer does so over every upstream, and the upstream is left (case 35)',
    async () => {
      const { until } = eventsAround(eventsIn('responses', { text: ['one ST', 'OP two', ' three'] }), 'OP two');
      // Responses has no stop texts: the relay itself has to look for them.
      const isOurs = upstream === 'responses';
      const script = isOurs ? [streamHead(), sse(until), hang()] : answer({ text: 'one ' });
      const response = await post(script, true, STOPS[client](['STOP']));
      expect(readStream(client, await response.text()).text).toBe('one ');
      const { body, closed } = await world.relay.upstream.nextRequest();
      expect([body.includes('STOP'), await closed]).toEqual(isOurs ? [false, 'left'] : [true, 'finished']);
    },
  );
});

describe('reasons to stop that only one protocol has', () => {
  const stopping = (upstream: ProtocolEndpoint, member: string, reason: string): Script =>
    variantOf(upstream, { text: 'Hello' }, (value) => (value[member] ? { ...value, [member]: reason } : value));

  const odd = [
    ['chat-completions', 'messages', 'stop_sequence'],
    ['responses', 'messages', 'stop_sequence'],
    ['chat-completions', 'messages', 'pause_turn'],
    ['responses', 'messages', 'pause_turn'],
    ['chat-completions', 'messages', 'of the next year'],
    ['responses', 'messages', 'of the next year'],
    ['messages', 'chat-completions', 'of the next year'],
    ['responses', 'chat-completions', 'of the next year'],
  ] as const;

  it.each(odd)('are an end for a client of %s: over %s, %s (cases 34, 43 and 44)', async (client, upstream, reason) => {
    const member = upstream === 'messages' ? 'stop_reason' : 'finish_reason';
    world.relay.upstream.script(stopping(upstream, member, reason));
    const request = { model: `over-${upstream}`, ...requestIn(client, HELLO) };
    const response = await world.relay.post(PATHS[client], world.caller.key, request);
    expect(readResponse(client, (await response.json()) as JsonObject)).toMatchObject({ text: 'Hello', stop: 'end' });
    const warnings = response.headers.get('x-relay-warnings') ?? '';
    expect(warnings.startsWith('paused:')).toBe(reason === 'pause_turn');
  });
});

describe('arguments that are no object', () => {
  const broken = { ...WEATHER_CALL, arguments: ['{"city":'] };

  it.each(['chat-completions', 'responses'] as const)(
    'are an empty input for a client of Messages, and named, whatever the key, beside what the request lost: over %s (case 55)',
    async (upstream) => {
      const { accountId, key } = world.caller;
      const { secret } = await world.relay.get(ApiKeyService).create({ accountId, name: 'strict', strict: true });
      world.relay.upstream.script(responseIn(upstream, { toolCalls: [broken] }));
      const request = { model: `over-${upstream}`, ...requestIn('messages', HELLO) };
      const responses = [
        await world.relay.post(PATHS.messages, secret.reveal(), request),
        await world.relay.post(PATHS.messages, key, { ...request, top_k: 5 }),
      ];
      for (const response of responses) expect(await response.json()).toMatchObject({ content: [{ input: {} }] });
      expect(responses.map(({ headers }) => headers.get('x-relay-warnings'))).toEqual([
        'invalid_arguments:content',
        'unsupported_parameter:top_k,invalid_arguments:content',
      ]);
    },
  );
});
