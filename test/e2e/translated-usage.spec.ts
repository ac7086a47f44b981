import { expectError, INVALID_REQUEST } from '../support/api-errors.js';
import { PATHS } from '../support/protocols.js';
import { usePairsRelay } from '../support/pairs-relay.js';
import {
  responseIn,
  type ProtocolEndpoint,
  eventsAround,
  eventsIn,
  hang,
  type JsonObject,
  jsonAnswer,
  responsesBody,
  type Script,
  sse,
  streamHead,
} from '../support/scripted-upstream.js';
import { responseWithoutUsage } from '../support/scripted-variants.js';
import { readResponse, readStream, requestIn } from '../support/protocol-doubles.js';

/** 1000 tokens, in more than four bytes each, and a few around them. */
const LONG = 'hello '.repeat(1000);
/** One token for four bytes, as it is estimated without a count. */
const ESTIMATED = LONG.length / 4;
const STOPS: Readonly<Record<'messages' | 'chat-completions', JsonObject>> = {
  messages: { stop_sequences: ['STOP'] },
  'chat-completions': { stop: ['STOP'] },
};
const CLIENTS = ['messages', 'chat-completions'] as const;

const world = usePairsRelay();

const post = (
  client: ProtocolEndpoint,
  upstream: ProtocolEndpoint,
  script: Script,
  more: JsonObject = {},
): Promise<Response> => {
  world.relay.upstream.script(script);
  const usage =
    client === 'chat-completions' && more['stream'] === true ? { stream_options: { include_usage: true } } : {};
  const requested = requestIn(client, { turns: [{ by: 'user', text: LONG }], outputLimit: 500 });
  return world.relay.post(PATHS[client], world.caller.key, {
    model: `over-${upstream}`,
    ...requested,
    ...usage,
    ...more,
  });
};

describe('an upstream that reports at the end of its streams', () => {
  const { before } = eventsAround(eventsIn('responses', { text: ['one ', 'STOP', ' two'] }), ' two');
  const stopped: Script = [streamHead(), sse(before), hang()];

  it.each(CLIENTS)('is counted where it is left before it can: %s', async (client) => {
    await (await post(client, 'responses', responseIn('responses'), { stream: true })).text();
    const text = await (await post(client, 'responses', stopped, { stream: true, ...STOPS[client] })).text();
    expect(readStream(client, text).text).toBe('one ');
    const [row] = (await world.relay.calls(world.caller)).toSorted((one, other) => (one.id < other.id ? 1 : -1));
    expect(row).toMatchObject({ status: 'succeeded', billing_basis: 'estimated' });
    expect(Number(row!['prompt_tokens'])).toBeLessThan(ESTIMATED - 300);
  });
});

describe('a conversation that is kept here', () => {
  it.each([false, true])(
    'is held for as what it came to, not as what might fill the window, streamed: %s',
    async (stream) => {
      // The window costs $0.20.
      const { key } = await world.relay.caller({ credit: '0.05' });
      const ask = async (more: JsonObject): Promise<readonly [number, string | undefined]> => {
        world.relay.upstream.script(responseIn('messages'));
        const body = { model: 'over-messages', input: 'Hello', max_output_tokens: 100, stream, ...more };
        const response = await world.relay.post(PATHS.responses, key, body);
        return [response.status, /"id":"(resp_[^"]*)"/.exec(await response.text())?.[1]];
      };
      const [, id = ''] = await ask({});
      expect(await ask({ previous_response_id: id })).toEqual([200, expect.stringMatching(/^resp_/)]);
      expect((await ask({ previous_response_id: 'resp_unknown' }))[0]).toBe(429);
    },
  );
});

describe('texts that end a response, which the relay has to look for itself', () => {
  it.each([
    ['too many', Array.from({ length: 200_000 }, (_, index) => `STOP ${index}`)],
    ['too long', ['STOP'.repeat(1000)]],
  ])('are refused when they are %s, and the request goes nowhere', async (_, stop) => {
    const refused = await post('messages', 'responses', responseIn('responses'), {
      stop_sequences: stop,
      stream: true,
    });
    await expectError('messages', refused, INVALID_REQUEST, { param: 'stop' });
    expect(world.relay.upstream.requests).toHaveLength(0);
  });
});

describe('a response that comes whole', () => {
  const whole = jsonAnswer(200, responsesBody({ text: 'one STOP two', usage: { prompt: 1000, completion: 200 } }));

  it.each(CLIENTS)('ends where the client wants it to, and costs what the upstream says: %s', async (client) => {
    for (const stream of [true, false]) {
      const text = await (await post(client, 'responses', whole, { stream, ...STOPS[client] })).text();
      const received = stream ? readStream(client, text) : readResponse(client, JSON.parse(text) as JsonObject);
      expect([stream, received.text]).toEqual([stream, 'one ']);
    }
    for (const row of await world.relay.calls(world.caller))
      expect(row).toMatchObject({ billing_basis: 'reported', prompt_tokens: '1000', completion_tokens: '200' });
  });

  it('without usage reports an estimate of its tokens', async () => {
    const text = await (await post('chat-completions', 'messages', responseWithoutUsage('messages'))).text();
    expect(readResponse('chat-completions', JSON.parse(text) as JsonObject).usage.completion).toBeGreaterThan(0);
  });
});
