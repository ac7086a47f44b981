import { createAnthropic } from '@ai-sdk/anthropic';
import { APICallError, generateText, jsonSchema, type ModelMessage, streamText, type ToolSet } from 'ai';
import { RelayApp, type TestCaller } from '../support/relay-app.js';
import {
  responseIn,
  delay,
  destroy,
  end,
  eventsIn,
  type Script,
  sse,
  streamHead,
  WEATHER_CALL,
} from '../support/scripted-upstream.js';

const IMAGE = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const MESSAGES: ModelMessage[] = [
  {
    role: 'user',
    content: [
      { type: 'text', text: 'What is the weather here? ☃' },
      { type: 'file', mediaType: 'image/png', data: IMAGE },
    ],
  },
];
const TOOLS: ToolSet = {
  get_weather: {
    description: 'Looks out of the window.',
    inputSchema: jsonSchema<never>({ type: 'object', properties: { city: { type: 'string' } } }),
  },
};
const USAGE = { prompt: 1000, cacheRead: 400, completion: 200 };

describe('the Vercel AI SDK on Messages', () => {
  let relay: RelayApp;
  let caller: TestCaller;
  let bodies: string[];
  beforeAll(async () => (relay = await RelayApp.start()));
  beforeEach(async () => {
    caller = await relay.caller({ credit: '1000' });
    bodies = [];
  });
  afterAll(() => relay.close());
  afterEach(() => relay.upstream.reset());

  const provider = (apiKey = caller.key): ReturnType<typeof createAnthropic> =>
    createAnthropic({
      baseURL: `${relay.url}/v1`,
      apiKey,
      fetch: (url, init) => {
        bodies.push(typeof init?.body === 'string' ? init.body : '');
        return fetch(url, init);
      },
    });
  const request = { messages: MESSAGES, tools: TOOLS, maxOutputTokens: 1000 };

  it.each(['whole', 'streamed'])(
    'sends tools and images up unchanged and understands what comes back: %s',
    async (how) => {
      relay.upstream.script(
        responseIn('messages', { text: ['Let me ', 'see. ☃'], toolCalls: [WEATHER_CALL], usage: USAGE }),
      );
      const model = provider()('m');
      const result = how === 'whole' ? await generateText({ ...request, model }) : streamText({ ...request, model });
      expect(await result.text).toBe('Let me see. ☃');
      expect(await result.toolCalls).toMatchObject([
        { toolName: 'get_weather', toolCallId: 'call_9', input: { city: 'Oslo' } },
      ]);
      expect(await result.finishReason).toBe('tool-calls');
      expect(await result.usage).toMatchObject({ inputTokens: 1000, outputTokens: 200 });

      expect(bodies).toHaveLength(1);
      const { body, headers } = await relay.upstream.nextRequest();
      expect(body.toString()).toBe(bodies[0]!.replace('"model":"m"', '"model":"vendor-m-2026"'));
      expect(body.toString()).toContain(IMAGE);
      expect(headers['anthropic-version']).toBe('2023-06-01');
      expect(await relay.onlyCall(caller)).toMatchObject({
        status: 'succeeded',
        prompt_tokens: '1000',
        completion_tokens: '200',
      });
    },
  );

  it.each<[string, Script]>([
    ['the connection breaks', [delay(20), destroy()]],
    ['the upstream ends early', end()],
  ])('does not take a response that breaks for a whole one: %s (cases 98 and 99)', async (_, broken) => {
    const some = eventsIn('messages', { text: ['Let me ', 'see.'] }).slice(0, -3);
    relay.upstream.script([streamHead(), sse(some), broken]);
    const errors: unknown[] = [];
    const model = provider()('m');
    const result = streamText({ ...request, model, maxRetries: 0, onError: ({ error }) => void errors.push(error) });
    let text = '';
    for await (const piece of result.textStream) text += piece;
    expect(text).toBe('Let me see.');
    expect(JSON.stringify(errors)).toMatch(/upstream .*request id: req_/i);
    expect(await result.finishReason).toBe('error');
    expect(await relay.onlyCall(caller)).toMatchObject({ status: 'failed', billing_basis: 'partial' });
  });

  it.each([
    [401, 'm', 'sk-nobody', /Invalid token/],
    [404, 'nobody', undefined, /The model "nobody" does not exist/],
  ])('raises %i as an error of the call, without another try', async (status, model, key, words) => {
    const error: unknown = await generateText({ ...request, model: provider(key)(model) }).catch(
      (reason: unknown) => reason,
    );
    expect(APICallError.isInstance(error)).toBe(true);
    expect(error).toMatchObject({ statusCode: status, isRetryable: false, message: expect.stringMatching(words) });
    expect(bodies).toHaveLength(1);
  });
});
