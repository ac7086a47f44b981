import Anthropic from '@anthropic-ai/sdk';
import { PROTOCOLS } from '../support/protocols.js';
import { PIXEL, usePairsRelay } from '../support/pairs-relay.js';
import {
  responseIn,
  destroy,
  end,
  endlessStream,
  eventsAround,
  eventsIn,
  type Script,
  sse,
  streamHead,
  TIME_CALL,
  waitFor,
  WEATHER_CALL,
} from '../support/scripted-upstream.js';

const input_schema = { type: 'object' as const, properties: { city: { type: 'string' } } };
const USAGE = { prompt: 1000, cacheRead: 400, completion: 200 };
const EXACT = { input_tokens: 600, cache_read_input_tokens: 400, output_tokens: 200 };

const breaks: [string, Script][] = [
  ['ends early', end()],
  ['is reset', destroy()],
];

const world = usePairsRelay();

describe.each(PROTOCOLS)('the SDK of Anthropic over an upstream of %s', (upstream) => {
  const client = (): Anthropic => new Anthropic({ baseURL: world.relay.url, apiKey: world.caller.key, maxRetries: 0 });
  const response = (options: Parameters<typeof responseIn>[1]): void =>
    world.relay.upstream.script(responseIn(upstream, { usage: USAGE, ...options }));

  const request = {
    model: `over-${upstream}`,
    max_tokens: 2000,
    system: 'Be brief.',
    messages: [{ role: 'user' as const, content: 'What is the weather here? ☃ 😀' }],
    tools: ['get_weather', 'get_time'].map((name) => ({ name, input_schema })),
  };

  it('a stream becomes the message that it is made of', async () => {
    response({ text: ['Let me ', 'see. ☃'], toolCalls: [WEATHER_CALL, TIME_CALL] });
    const message = await client().messages.stream(request).finalMessage();
    expect(message).toMatchObject({
      type: 'message',
      role: 'assistant',
      stop_reason: 'tool_use',
    });
    expect(message.content).toMatchObject([
      { type: 'text', text: 'Let me see. ☃' },
      { type: 'tool_use', id: 'call_9', name: 'get_weather', input: { city: 'Oslo' } },
      { type: 'tool_use', id: 'call_10', name: 'get_time', input: {} },
    ]);
    expect(message.usage).toMatchObject(EXACT);
  });

  /** The usage at the start of a stream, and at its end. */
  async function usages(requested: object): Promise<readonly [Anthropic.Usage, Anthropic.Usage]> {
    const stream = client().messages.stream({ ...request, ...requested });
    let start: Anthropic.Usage | undefined;
    stream.on('streamEvent', (event) => {
      // The SDK goes on to write into this object.
      if (event.type === 'message_start') start = { ...event.message.usage };
    });
    const { usage } = await stream.finalMessage();
    return [start!, usage];
  }

  if (upstream !== 'messages') {
    it('message_start has the prompt tokens as they are counted when the count is ready', async () => {
      const { max_tokens: _, ...counted } = request;
      const count = () => client().messages.countTokens(counted);
      const { input_tokens } = await count();
      // Prompts are counted one after the other: when this count is there, that of the stream is there, too.
      world.relay.upstream.script([waitFor(count), responseIn(upstream, { usage: USAGE, text: 'Snow.' })]);
      const [start, total] = await usages({});
      expect(start).toMatchObject({ input_tokens, output_tokens: 0 });
      expect(total).toMatchObject(EXACT);
    });

    it('message_start has half to double the prompt tokens of English text too large to be counted', async () => {
      const content = 'The quick brown fox jumps over the lazy dog. '.repeat(7000);
      response({ text: 'It does.' });
      const [start, total] = await usages({ messages: [{ role: 'user', content }], tools: [] });
      // The sentence is 10 tokens in o200k_base.
      expect(start.input_tokens).toBeGreaterThan(70_000 / 2);
      expect(start.input_tokens).toBeLessThan(70_000 * 2);
      expect(total).toMatchObject(EXACT);
    });
  }

  it('a conversation goes on with the message as it came: reasoning, calls, and a picture as a result', async () => {
    const thinking = { type: 'adaptive' as const, display: 'summarized' as const };
    response({ reasoning: 'Oslo it is.', toolCalls: [WEATHER_CALL] });
    const first = await client()
      .messages.stream({ ...request, thinking })
      .finalMessage();
    expect(first.content[0]).toMatchObject({ type: 'thinking', thinking: 'Oslo it is.' });
    response({ text: 'Snow it is.' });
    const source = { type: 'base64' as const, media_type: 'image/png' as const, data: PIXEL };
    const second = await client()
      .messages.stream({
        ...request,
        thinking,
        messages: [
          ...request.messages,
          { role: 'assistant', content: first.content },
          {
            role: 'user',
            content: [{ type: 'tool_result', tool_use_id: 'call_9', content: [{ type: 'image', source }] }],
          },
        ],
      })
      .finalText();
    expect(second).toBe('Snow it is.');
    expect(world.relay.upstream.requests[1]!.body.toString()).toContain(PIXEL);
  });

  it('whole, as CLIs ask again when a stream broke', async () => {
    response({ text: 'Hello', toolCalls: [WEATHER_CALL] });
    const { content, stop_reason } = await client().messages.create(request);
    expect(content).toMatchObject([
      { type: 'text', text: 'Hello' },
      { type: 'tool_use', input: { city: 'Oslo' } },
    ]);
    expect(stop_reason).toBe('tool_use');
  });

  it('a response of a schema', async () => {
    response({ text: '{"city":"Oslo"}' });
    const schema = { ...input_schema, required: ['city'], additionalProperties: false };
    const { content } = await client().messages.create({
      ...request,
      output_config: { format: { type: 'json_schema', schema } },
    });
    expect(content).toMatchObject([{ type: 'text', text: '{"city":"Oslo"}' }]);
    expect(world.relay.upstream.requests[0]!.body.toString()).toContain('json_schema');
  });

  it.each(breaks)('a stream whose upstream %s is an error (case 99)', async (_, fault) => {
    const { until } = eventsAround(eventsIn(upstream, { text: ['Let me ', 'see.'] }), 'Let me ');
    world.relay.upstream.script([streamHead(), sse(until), fault]);
    const outcome = client().messages.stream(request).finalMessage();
    await expect(outcome).rejects.toThrow(/upstream .*request id: req_/i);
  });

  it('a client that aborts leaves the upstream at once (case 103)', async () => {
    world.relay.upstream.script(endlessStream(upstream));
    const stream = client().messages.stream(request);
    for await (const { type } of stream) if (type === 'content_block_delta') break;
    stream.abort();
    expect(await (await world.relay.upstream.nextRequest()).closed).toBe('left');
  });
});
