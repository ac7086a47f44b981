import OpenAI from 'openai';
import { PROTOCOLS } from '../support/protocols.js';
import { PIXEL, usePairsRelay } from '../support/pairs-relay.js';
import {
  responseIn,
  destroy,
  endlessStream,
  end,
  eventsAround,
  eventsIn,
  type Script,
  sse,
  streamHead,
  TIME_CALL,
  WEATHER_CALL,
} from '../support/scripted-upstream.js';

const PARAMETERS = { type: 'object', properties: { city: { type: 'string' } } };
const USAGE = { prompt: 1000, cacheRead: 400, completion: 200 };
const HELLO = 'What is the weather here? ☃ 😀';

const breaks: [string, Script][] = [
  ['ends early', end()],
  ['is reset', destroy()],
];

const world = usePairsRelay();

describe.each(PROTOCOLS)('the SDK of OpenAI over an upstream of %s', (upstream) => {
  const model = `over-${upstream}`;
  const client = (): OpenAI => new OpenAI({ baseURL: world.url, apiKey: world.caller.key, maxRetries: 0 });
  const answer = (options: Parameters<typeof responseIn>[1]): void =>
    world.relay.upstream.script(responseIn(upstream, { usage: USAGE, ...options }));
  const breakAfterText = (fault: Script): void => {
    const { until } = eventsAround(eventsIn(upstream, { text: ['Let me ', 'see.'] }), 'Let me ');
    world.relay.upstream.script([streamHead(), sse(until), fault]);
  };

  describe('chat completions', () => {
    const tools = ['get_weather', 'get_time'].map((name) => ({
      type: 'function' as const,
      function: { name, parameters: PARAMETERS },
    }));
    const messages = [{ role: 'user' as const, content: HELLO }];
    const request = { model, messages, tools, stream_options: { include_usage: true } };

    it('a stream becomes the completion that it is made of', async () => {
      answer({ text: ['Let me ', 'see. ☃'], toolCalls: [WEATHER_CALL, TIME_CALL] });
      const completion = await client().chat.completions.stream(request).finalChatCompletion();
      expect(completion).toMatchObject({ object: 'chat.completion' });
      const [choice] = completion.choices;
      expect(choice).toMatchObject({
        finish_reason: 'tool_calls',
        message: {
          role: 'assistant',
          content: 'Let me see. ☃',
          tool_calls: [
            { id: 'call_9', function: { name: 'get_weather', arguments: '{"city":"Oslo"}' } },
            { id: 'call_10', function: { name: 'get_time', arguments: '{}' } },
          ],
        },
      });
      expect(completion.usage).toMatchObject({
        prompt_tokens: 1000,
        completion_tokens: 200,
        total_tokens: 1200,
        prompt_tokens_details: { cached_tokens: 400 },
      });
    });

    it('the SDK runs tools to the end', async () => {
      world.relay.upstream.scriptNext(responseIn(upstream, { toolCalls: [WEATHER_CALL] }));
      answer({ text: 'Snow it is.' });
      const requested: unknown[] = [];
      const runner = client().chat.completions.runTools({
        model,
        messages: [{ role: 'user', content: [{ type: 'text', text: HELLO }, image] }],
        stream: true,
        tools: [
          {
            type: 'function',
            function: {
              name: 'get_weather',
              description: 'Looks out of the window.',
              parameters: PARAMETERS,
              parse: (json: string) => JSON.parse(json) as object,
              function: (input: object) => {
                requested.push(input);
                return 'Snow.';
              },
            },
          },
        ],
      });
      expect(await runner.finalContent()).toBe('Snow it is.');
      expect(requested).toEqual([{ city: 'Oslo' }]);
      const { body } = world.relay.upstream.requests[1]!;
      expect(body.toString()).toContain('Snow.');
      expect(body.toString()).toContain(PIXEL);
    });
    const image = { type: 'image_url' as const, image_url: { url: `data:image/png;base64,${PIXEL}` } };

    it('a response of a schema is parsed', async () => {
      answer({ text: '{"city":"Oslo"}' });
      const schema = { ...PARAMETERS, required: ['city'], additionalProperties: false };
      const response_format = { type: 'json_schema' as const, json_schema: { name: 'place', schema, strict: true } };
      const { choices } = await client().chat.completions.parse({ model, messages, response_format });
      expect(choices[0]!.message.parsed).toEqual({ city: 'Oslo' });
    });

    it('reasoning comes in the chunks', async () => {
      answer({ reasoning: ['Compare ', 'both.'], text: '42' });
      let reasoning = '';
      const stream = await client().chat.completions.create({
        model,
        messages,
        reasoning_effort: 'high',
        stream: true,
      });
      for await (const { choices } of stream)
        reasoning += (choices[0]?.delta as { reasoning_content?: string } | undefined)?.reasoning_content ?? '';
      expect(reasoning).toBe('Compare both.');
    });

    it.each(breaks)('a stream whose upstream %s is an error (case 99)', async (_, fault) => {
      breakAfterText(fault);
      const outcome = client().chat.completions.stream(request).finalChatCompletion();
      await expect(outcome).rejects.toThrow(/upstream .*request id: req_/i);
    });

    it('a client that aborts leaves the upstream at once (case 103)', async () => {
      world.relay.upstream.script(endlessStream(upstream));
      const stream = await client().chat.completions.create({ model, messages, stream: true });
      for await (const { choices } of stream) if (choices[0]?.delta.content) break;
      expect(await (await world.relay.upstream.nextRequest()).closed).toBe('left');
    });
  });

  describe('responses', () => {
    const tools = ['get_weather', 'get_time'].map((name) => ({
      type: 'function' as const,
      name,
      parameters: PARAMETERS,
      strict: false,
    }));
    const request = { model, input: HELLO, tools };

    it('a stream becomes the response that it is made of', async () => {
      answer({ text: ['Let me ', 'see. ☃'], toolCalls: [WEATHER_CALL, TIME_CALL] });
      const response = await client().responses.stream(request).finalResponse();
      expect(response).toMatchObject({ object: 'response', status: 'completed', output_text: 'Let me see. ☃' });
      expect(response.output).toMatchObject([
        { type: 'message', content: [{ type: 'output_text', text: 'Let me see. ☃' }] },
        { type: 'function_call', call_id: 'call_9', name: 'get_weather', arguments: '{"city":"Oslo"}' },
        { type: 'function_call', call_id: 'call_10', name: 'get_time', arguments: '{}' },
      ]);
      expect(response.usage).toMatchObject({
        input_tokens: 1000,
        input_tokens_details: { cached_tokens: 400 },
        output_tokens: 200,
        total_tokens: 1200,
      });
    });

    it('every delta is taken into the snapshot of its item', async () => {
      answer({ reasoning: ['Compare ', 'both.'], text: ['4', '2'] });
      const texts: string[] = [];
      const stream = client().responses.stream({ ...request, reasoning: { effort: 'high', summary: 'auto' } });
      stream.on('response.output_text.delta', ({ snapshot }) => void texts.push(snapshot));
      const { output } = await stream.finalResponse();
      expect(texts).toEqual(['4', '42']);
      expect(output[0]).toMatchObject({
        type: 'reasoning',
        summary: [{ type: 'summary_text', text: 'Compare both.' }],
      });
    });

    it('a response of a schema is parsed', async () => {
      answer({ text: '{"city":"Oslo"}' });
      const schema = { ...PARAMETERS, required: ['city'], additionalProperties: false };
      const text = { format: { type: 'json_schema' as const, name: 'place', schema, strict: true } };
      const { output_parsed } = await client().responses.parse({ model, input: HELLO, text });
      expect(output_parsed).toEqual({ city: 'Oslo' });
    });

    it.each(breaks)('a stream whose upstream %s is an error (case 99)', async (_, fault) => {
      breakAfterText(fault);
      await expect(client().responses.stream(request).finalResponse()).rejects.toThrow(/upstream .*request id: req_/i);
    });

    it('a client that aborts leaves the upstream at once (case 103)', async () => {
      world.relay.upstream.script(endlessStream(upstream));
      const stream = await client().responses.create({ ...request, stream: true });
      for await (const { type } of stream) if (type === 'response.output_text.delta') break;
      expect(await (await world.relay.upstream.nextRequest()).closed).toBe('left');
    });
  });
});
