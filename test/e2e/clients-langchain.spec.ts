import { ChatAnthropic } from '@langchain/anthropic';
import type { BaseChatModel } from '@langchain/core/language_models/chat_models';
import { type AIMessageChunk, HumanMessage, ToolMessage } from '@langchain/core/messages';
import { ChatOpenAI } from '@langchain/openai';
import { PROTOCOLS } from '../support/protocols.js';
import { PIXEL, usePairsRelay } from '../support/pairs-relay.js';
import {
  responseIn,
  destroy,
  end,
  eventsAround,
  eventsIn,
  type Script,
  sse,
  streamHead,
  TIME_CALL,
  WEATHER_CALL,
} from '../support/scripted-upstream.js';

const world = usePairsRelay();

const openAi = (model: string, apiKey: string, useResponsesApi: boolean): ChatOpenAI =>
  new ChatOpenAI({ model, apiKey, useResponsesApi, maxRetries: 0, configuration: { baseURL: world.url } });

const MODELS = {
  responses: (model: string, apiKey: string) => openAi(model, apiKey, true),
  'chat completions': (model: string, apiKey: string) => openAi(model, apiKey, false),
  anthropic: (model: string, apiKey: string) =>
    new ChatAnthropic({ model, apiKey, maxRetries: 0, maxTokens: 2000, anthropicApiUrl: world.relay.url }),
} satisfies Readonly<Record<string, (model: string, apiKey: string) => BaseChatModel>>;

const PARAMETERS = {
  type: 'object',
  properties: { city: { type: 'string' } },
  required: ['city'],
  additionalProperties: false,
};
const TOOLS = ['get_weather', 'get_time'].map((name) => ({
  type: 'function' as const,
  function: { name, description: 'A tool.', parameters: PARAMETERS },
}));
const QUESTION = new HumanMessage({
  content: [
    { type: 'text', text: 'What is the weather here? ☃' },
    { type: 'image_url', image_url: { url: `data:image/png;base64,${PIXEL}` } },
  ],
});
const USAGE = { prompt: 1000, cacheRead: 400, completion: 200 };

const breaks: [string, Script][] = [
  ['ends early', end()],
  ['is reset', destroy()],
];

const CASES = (Object.keys(MODELS) as (keyof typeof MODELS)[]).flatMap((client) =>
  PROTOCOLS.map((upstream) => [client, upstream] as const),
);

describe.each(CASES)('LangChain, %s, over an upstream of %s', (client, upstream) => {
  const chat = (): ChatOpenAI | ChatAnthropic => MODELS[client](`over-${upstream}`, world.caller.key);
  const response = (options: Parameters<typeof responseIn>[1]): void =>
    world.relay.upstream.script(responseIn(upstream, { usage: USAGE, ...options }));

  /** The message of a response, whole or put together from its pieces. */
  async function ask(how: string, messages: (HumanMessage | ToolMessage | AIMessageChunk)[]): Promise<AIMessageChunk> {
    const model = chat().bindTools(TOOLS);
    if (how === 'whole') return model.invoke(messages);
    let message: AIMessageChunk | undefined;
    for await (const piece of await model.stream(messages)) message = message?.concat(piece) ?? piece;
    return message!;
  }

  /**
   * Of a stream of Messages it takes the prompt from the beginning, where the relay estimates it for upstreams of other
   * protocols, and adds to the output what stands there: nothing, unless the upstream itself begins otherwise.
   */
  function expectTokens(message: AIMessageChunk, how: string): void {
    const { input_tokens, output_tokens } = message.usage_metadata!;
    const isTranslated = upstream !== 'messages';
    const startsAnew = how === 'streamed' && client === 'anthropic';
    expect(output_tokens).toBe(startsAnew && !isTranslated ? 201 : 200);
    if (!startsAnew || !isTranslated) return expect(input_tokens).toBe(1000);
    // An image counts as 1,600 tokens; the words and the tools are some 70.
    expect(input_tokens).toBeGreaterThan(1600);
    expect(input_tokens).toBeLessThan(1600 + 300);
  }

  it.each(['whole', 'streamed'])('text, calls and usage, and the turn behind them: %s', async (how) => {
    response({ text: ['Let me ', 'see. ☃'], toolCalls: [WEATHER_CALL, TIME_CALL] });
    const message = await ask(how, [QUESTION]);
    expect(message.text).toBe('Let me see. ☃');
    expect(message.tool_calls).toMatchObject([
      { id: 'call_9', name: 'get_weather', args: { city: 'Oslo' } },
      { id: 'call_10', name: 'get_time', args: {} },
    ]);
    expectTokens(message, how);
    expect(world.relay.upstream.requests[0]!.body.toString()).toContain(PIXEL);

    response({ text: 'Snow it is.' });
    const results = ['Snow.', 'Noon.'].map(
      (content, index) => new ToolMessage({ content, tool_call_id: message.tool_calls![index]!.id! }),
    );
    expect((await ask(how, [QUESTION, message, ...results])).text).toBe('Snow it is.');
    expect(world.relay.upstream.requests[1]!.body.toString()).toContain('Noon.');
  });

  it('a response of a schema', async () => {
    const call = { id: 'call_1', name: 'place', arguments: '{"city":"Oslo"}' };
    response(client === 'anthropic' ? { toolCalls: [call] } : { text: '{"city":"Oslo"}' });
    const method = client === 'anthropic' ? 'functionCalling' : 'jsonSchema';
    const model = chat().withStructuredOutput(PARAMETERS, { name: 'place', method });
    expect(await model.invoke('Where?')).toEqual({ city: 'Oslo' });
  });

  it.each(breaks)('a stream whose upstream %s is an error (case 99)', async (_, fault) => {
    const { until } = eventsAround(eventsIn(upstream, { text: ['Let me ', 'see.'] }), 'Let me ');
    world.relay.upstream.script([streamHead(), sse(until), fault]);
    await expect(ask('streamed', [QUESTION])).rejects.toThrow(/upstream .*request id: req_/i);
  });
});
