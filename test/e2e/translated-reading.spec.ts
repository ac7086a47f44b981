import { expectError, UPSTREAM_ERROR } from '../support/api-errors.js';
import { PATHS } from '../support/protocols.js';
import { FRAMINGS } from '../support/framings.js';
import { NAMED_PAIRS } from '../support/pairs.js';
import { usePairsRelay } from '../support/pairs-relay.js';
import {
  responseIn,
  type AnswerOptions,
  bytes,
  encodeEvents,
  end,
  eventsAround,
  eventsIn,
  jsonAnswer,
  type JsonObject,
  type Script,
  streamHead,
  WEATHER_CALL,
} from '../support/scripted-upstream.js';
import { readResponse, readStream, requestIn } from '../support/protocol-doubles.js';

const TEXT = ['Hé', '😀 lo', '\u2028 "quoted" \\n', ' ☃'];
const RESPONSE: AnswerOptions = { text: TEXT, toolCalls: [WEATHER_CALL], usage: { prompt: 1000, cacheRead: 400 } };
const MIB = 1024 * 1024;

const world = usePairsRelay();
const FOREIGN_PAIRS = NAMED_PAIRS.filter(([, { client, upstream }]) => client !== upstream);

describe.each(FOREIGN_PAIRS)('R7: a response that is translated, %s', (_, { client, upstream, model }) => {
  const events = eventsIn(upstream, RESPONSE);
  const stream = encodeEvents(events);

  async function ask(script: Script, isStreamed = true): Promise<Response> {
    world.relay.upstream.script(script);
    const request = requestIn(client, { turns: [{ by: 'user', text: 'Hello' }], outputLimit: 500 });
    const usage = client === 'chat-completions' && isStreamed ? { stream_options: { include_usage: true } } : {};
    return world.relay.post(PATHS[client], world.caller.key, { model, stream: isStreamed, ...usage, ...request });
  }

  it('is the same however its stream is written down and cut', async () => {
    // Of the three, Chat Completions says what was used only when it is asked.
    const usual = readStream(client, await (await ask(responseIn(upstream, RESPONSE))).text());
    const whole = upstream === 'chat-completions' ? world.relay.upstream.lastSent : stream;
    expect(usual.text).toBe(TEXT.join(''));
    for (const [framing, frame] of Object.entries(FRAMINGS)) {
      const response = await ask([streamHead(), frame(whole).map((chunk) => bytes(Buffer.from(chunk))), end()]);
      expect([framing, readStream(client, await response.text())]).toEqual([framing, usual]);
    }
  });

  it('may hold a piece of 12 MiB (case 14)', async () => {
    const large = 'aGVsbG8g'.repeat((12 * MIB) / 8);
    const received = readStream(client, await (await ask(responseIn(upstream, { text: large }))).text());
    expect(received.text.length).toBe(large.length);
    expect(received.text === large).toBe(true);
  });

  it('is streamed even if the upstream sends it whole (case 20)', async () => {
    const received = readStream(client, await (await ask(responseIn(upstream, { ...RESPONSE, stream: false }))).text());
    expect(received).toMatchObject({
      text: TEXT.join(''),
      calls: ['call_9 get_weather {"city":"Oslo"}'],
      stop: 'tools',
    });
  });

  it('is whole even if the upstream streams it (case 21)', async () => {
    const response = await ask(responseIn(upstream, { ...RESPONSE, stream: true }), false);
    expect(response.headers.get('content-type')).toMatch(/^application\/json/);
    const received = readResponse(client, (await response.json()) as JsonObject);
    expect(received).toMatchObject({
      text: TEXT.join(''),
      calls: ['call_9 get_weather {"city":"Oslo"}'],
      stop: 'tools',
    });
  });

  it.each([
    ['whole', false],
    ['streamed', true],
  ])('that is an error under the status 200 is an error (case 22): %s', async (__, isStreamed) => {
    const error = { type: 'server_error', message: 'Boom.' };
    const body = upstream === 'messages' ? { type: 'error', error } : { error };
    await expectError(client, await ask(jsonAnswer(200, body), isStreamed), UPSTREAM_ERROR);
  });

  it('with a line in it that is no JSON is cut short, but where servers write such lines (case 19)', async () => {
    const { before, from } = eventsAround(events, TEXT[1]!);
    const response = await ask([
      streamHead(),
      bytes(encodeEvents(before)),
      bytes('data: garbage\n\n'),
      bytes(encodeEvents(from)),
      end(),
    ]);
    const text = await response.text();
    if (upstream === 'chat-completions') expect(readStream(client, text).text).toBe(TEXT.join(''));
    else expect(text).toMatch(/"error".*request id: req_/s);
  });
});
