import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import {
  APICallError,
  generateText,
  jsonSchema,
  type LanguageModel,
  type ModelMessage,
  Output,
  stepCountIs,
  streamText,
  tool,
  type ToolSet,
} from 'ai';
import { PROTOCOLS } from '../support/protocols.js';
import { PIXEL, usePairsRelay } from '../support/pairs-relay.js';
import {
  responseIn,
  destroy,
  end,
  endlessStream,
  errorResponse,
  eventsAround,
  eventsIn,
  type Script,
  sse,
  streamHead,
  TIME_CALL,
  WEATHER_CALL,
} from '../support/scripted-upstream.js';

const world = usePairsRelay();

/** Models of each provider; `chat` and `compatible` speak Chat Completions, each in its own way. */
const PROVIDERS: Readonly<Record<string, (model: string, apiKey: string) => LanguageModel>> = {
  responses: (model, apiKey) => createOpenAI({ baseURL: world.url, apiKey }).responses(model),
  chat: (model, apiKey) => createOpenAI({ baseURL: world.url, apiKey }).chat(model),
  compatible: (model, apiKey) =>
    createOpenAICompatible({ name: 'relay', baseURL: world.url, apiKey, includeUsage: true })(model),
  anthropic: (model, apiKey) => createAnthropic({ baseURL: world.url, apiKey })(model),
};

/** How each asks for reasoning, and for its own state not to be kept. */
const OPTIONS = {
  openai: { store: false, reasoningEffort: 'high', reasoningSummary: 'auto', forceReasoning: true },
  relay: { reasoningEffort: 'high' },
  anthropic: { thinking: { type: 'adaptive' } },
} as const;

const MESSAGES: ModelMessage[] = [
  {
    role: 'user',
    content: [
      { type: 'text', text: 'What is the weather here? ☃' },
      { type: 'file', mediaType: 'image/png', data: PIXEL },
    ],
  },
];
const PLACE = jsonSchema<{ city?: string }>({
  type: 'object',
  properties: { city: { type: 'string' } },
  required: ['city'],
  additionalProperties: false,
});
const USAGE = { prompt: 1000, cacheRead: 400, completion: 200 };

const breaks: [string, Script][] = [
  ['ends early', end()],
  ['is reset', destroy()],
];

const CASES = Object.keys(PROVIDERS).flatMap((provider) => PROTOCOLS.map((upstream) => [provider, upstream] as const));

describe.each(CASES)('the AI SDK, %s, over an upstream of %s', (provider, upstream) => {
  const model = (): LanguageModel => PROVIDERS[provider]!(`over-${upstream}`, world.caller.key);
  const response = (options: Parameters<typeof responseIn>[1]): void =>
    world.relay.upstream.script(responseIn(upstream, { usage: USAGE, ...options }));
  const request = { messages: MESSAGES, maxOutputTokens: 2000, maxRetries: 0, providerOptions: OPTIONS };
  /** Tools that nobody runs: the calls are what is looked at. */
  const tools: ToolSet = {
    get_weather: { inputSchema: jsonSchema<never>({ type: 'object', properties: { city: { type: 'string' } } }) },
    get_time: { inputSchema: jsonSchema<never>({ type: 'object', properties: {} }) },
  };

  it.each(['whole', 'streamed'])('text, calls and usage: %s', async (how) => {
    response({ text: ['Let me ', 'see. ☃'], toolCalls: [WEATHER_CALL, TIME_CALL] });
    const requested = { ...request, model: model(), tools };
    const result = how === 'whole' ? await generateText(requested) : streamText(requested);
    expect(await result.text).toBe('Let me see. ☃');
    expect(await result.toolCalls).toMatchObject([
      { toolName: 'get_weather', toolCallId: 'call_9', input: { city: 'Oslo' } },
      { toolName: 'get_time', toolCallId: 'call_10', input: {} },
    ]);
    expect(await result.finishReason).toBe('tool-calls');
    expect(await result.usage).toMatchObject({ inputTokens: 1000, outputTokens: 200 });
    expect(world.relay.upstream.requests[0]!.body.toString()).toContain(PIXEL);
  });

  it.each(['whole', 'streamed'])('tools are run to the end, with the reasoning in between: %s', async (how) => {
    world.relay.upstream.scriptNext(responseIn(upstream, { reasoning: 'Oslo it is.', toolCalls: [WEATHER_CALL] }));
    response({ text: 'Snow it is.' });
    const get_weather = tool({ inputSchema: PLACE, execute: ({ city }) => `Snow in ${city}.` });
    const requested = { ...request, model: model(), tools: { get_weather }, stopWhen: stepCountIs(2) };
    const result = how === 'whole' ? await generateText(requested) : streamText(requested);
    expect(await result.text).toBe('Snow it is.');
    const [first] = await result.steps;
    expect(first!.reasoningText).toBe(provider === 'chat' ? undefined : 'Oslo it is.');
    expect(world.relay.upstream.requests[1]!.body.toString()).toContain('Snow in Oslo.');
  });

  it('a response of a schema', async () => {
    response({ text: '{"city":"Oslo"}' });
    // Of a model that it does not know, the provider of Anthropic asks for a call instead.
    if (provider === 'anthropic')
      response({ toolCalls: [{ id: 'call_1', name: 'json', arguments: '{"city":"Oslo"}' }] });
    const output = Output.object({ schema: PLACE });
    const { providerOptions: _, ...plain } = request;
    expect((await generateText({ ...plain, model: model(), output })).output).toEqual({ city: 'Oslo' });
  });

  it.each(breaks)('a stream whose upstream %s is an error, and no whole response (case 99)', async (_, fault) => {
    const { until } = eventsAround(eventsIn(upstream, { text: ['Let me ', 'see.'] }), 'Let me ');
    world.relay.upstream.script([streamHead(), sse(until), fault]);
    const errors: unknown[] = [];
    const result = streamText({ ...request, model: model(), onError: ({ error }) => void errors.push(error) });
    await result.consumeStream();
    expect(errors.map((error) => (error instanceof Error ? error.message : JSON.stringify(error))).join()).toMatch(
      /upstream .*request id: req_/i,
    );
    expect(await result.finishReason).toBe('error');
  });

  it('a refusal is an error that says what the relay says', async () => {
    world.relay.upstream.script(errorResponse(upstream, 400));
    const error: unknown = await generateText({ ...request, model: model() }).catch((reason: unknown) => reason);
    expect(APICallError.isInstance(error)).toBe(true);
    expect(error).toMatchObject({ statusCode: 400, isRetryable: false });
    expect((error as Error).message).toMatch(/Scripted error 400\..*request id: req_/);
  });

  it('a program that aborts leaves the upstream at once (case 103)', async () => {
    world.relay.upstream.script(endlessStream(upstream));
    const abort = new AbortController();
    const result = streamText({ ...request, model: model(), abortSignal: abort.signal });
    for await (const text of result.textStream) if (text !== '') abort.abort();
    expect(await (await world.relay.upstream.nextRequest()).closed).toBe('left');
  });
});
