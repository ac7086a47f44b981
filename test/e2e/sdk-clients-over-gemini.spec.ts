import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { THOUGHT_SIGNATURE } from '../conformance/protocols/gemini/answers.js';
import { geminiVendor } from '../conformance/protocols/gemini/vendor.js';
import { PIXEL, usePairsRelay } from '../support/pairs-relay.js';
import { responseIn, type AnswerOptions, jsonAnswer, TIME_CALL, WEATHER_CALL } from '../support/scripted-upstream.js';
import { type SdkResponse, readChatCompletion, readMessage, readResponseObject } from '../support/sdk-responses.js';
import type { RecordedRequest } from '../support/scripted-request.js';

const SCHEMA = {
  type: 'object' as const,
  properties: { city: { type: 'string' }, '10': {}, '2': {} },
  required: ['city'],
  additionalProperties: false,
};
const USAGE = { prompt: 1000, cacheRead: 400, completion: 200, reasoning: 50 };
/** 600 × $1/M + 400 × $0.1/M + 200 × $10/M. */
const COST = '2640000';
/** What Google documents for calls that nobody signed. */
const UNSIGNED = 'skip_thought_signature_validator';

const ANSWER: AnswerOptions = {
  text: ['Let me ', 'see. ☃'],
  toolCalls: [WEATHER_CALL, TIME_CALL],
  usage: USAGE,
};
const UNDERSTOOD = {
  text: 'Let me see. ☃',
  calls: ['get_weather {"city":"Oslo"}', 'get_time {}'],
  tokens: [1000, 200],
};

interface SentContent {
  readonly role: string;
  readonly parts: readonly Readonly<Record<string, unknown>>[];
}

describe('the official SDKs over Gemini', () => {
  const world = usePairsRelay({ preludeMs: 20_000 });
  const models = [['over-gemini'], ['whole-gemini']];

  // The upstream is asked for a stream, whatever the client wants, unless the channel says otherwise.
  beforeAll(() =>
    world.relay.applyCatalog(`
models:
  - { name: whole-gemini, context_window: 200000, max_output_tokens: 64000,
      prices: [{ input: 1, cache_read: 0.1, output: 10 }] }
channels:
  - { name: whole-gemini, protocol: gemini, base_url: "${world.relay.upstream.url}", credentials: [secret-of-gemini],
      models: { whole-gemini: vendor-gemini },
      flags: ${JSON.stringify({ ...geminiVendor.flags, forceUpstreamStream: false })} }
`),
  );

  const openai = (): OpenAI => new OpenAI({ baseURL: world.url, apiKey: world.caller.key, maxRetries: 0 });
  const anthropic = (): Anthropic =>
    new Anthropic({ baseURL: world.relay.url, apiKey: world.caller.key, maxRetries: 0 });
  const script = (response: AnswerOptions): void => world.relay.upstream.script(responseIn('gemini', response));
  const sent = (): RecordedRequest => world.relay.upstream.requests.at(-1)!;
  const sentContents = (): readonly SentContent[] => sent().json['contents'] as readonly SentContent[];

  const CHAT = {
    messages: [
      { role: 'system' as const, content: 'Be brief.' },
      {
        role: 'user' as const,
        content: [
          { type: 'text' as const, text: 'What is the weather here?' },
          { type: 'image_url' as const, image_url: { url: `data:image/png;base64,${PIXEL}` } },
        ],
      },
    ],
    tools: [{ type: 'function' as const, function: { name: 'get_weather', parameters: SCHEMA } }],
  };
  const RESPONSE = {
    instructions: 'Be brief.',
    input: [
      {
        role: 'user' as const,
        content: [
          { type: 'input_text' as const, text: 'What is the weather here?' },
          { type: 'input_image' as const, image_url: `data:image/png;base64,${PIXEL}`, detail: 'auto' as const },
        ],
      },
    ],
    tools: [{ type: 'function' as const, name: 'get_weather', parameters: SCHEMA, strict: false }],
  };
  const MESSAGE = {
    max_tokens: 4000,
    system: 'Be brief.',
    messages: [
      {
        role: 'user' as const,
        content: [
          { type: 'text' as const, text: 'What is the weather here?' },
          {
            type: 'image' as const,
            source: { type: 'base64' as const, media_type: 'image/png' as const, data: PIXEL },
          },
        ],
      },
    ],
    tools: [{ name: 'get_weather', input_schema: SCHEMA }],
  };

  const asking: Readonly<Record<string, (model: string) => Promise<SdkResponse>>> = {
    'openai chat': async (model) => readChatCompletion(await openai().chat.completions.create({ ...CHAT, model })),
    'openai chat, streamed': async (model) =>
      readChatCompletion(
        await openai()
          .chat.completions.stream({ ...CHAT, model, stream_options: { include_usage: true } })
          .finalChatCompletion(),
      ),
    'openai responses': async (model) => readResponseObject(await openai().responses.create({ ...RESPONSE, model })),
    'openai responses, streamed': async (model) =>
      readResponseObject(
        await openai()
          .responses.stream({ ...RESPONSE, model })
          .finalResponse(),
      ),
    'anthropic messages': async (model) => readMessage(await anthropic().messages.create({ ...MESSAGE, model })),
    'anthropic messages, streamed': async (model) =>
      readMessage(
        await anthropic()
          .messages.stream({ ...MESSAGE, model })
          .finalMessage(),
      ),
  };

  it.each(Object.keys(asking).flatMap((client) => models.map(([model = '']) => [client, model] as const)))(
    'understand a text with several calls, and are understood with images and tools: %s, %s',
    async (client, model) => {
      script(ANSWER);
      expect(await asking[client]!(model)).toEqual(UNDERSTOOD);

      const isStreamed = model === 'over-gemini' || client.endsWith('streamed');
      const method = isStreamed ? 'streamGenerateContent' : 'generateContent';
      const { path, query, headers, body, json } = sent();
      expect(path).toBe(`/v1/models/vendor-gemini:${method}`);
      expect(query.get('alt')).toBe(isStreamed ? 'sse' : null);
      expect(headers).toMatchObject({ 'x-goog-api-key': 'secret-of-gemini' });
      expect(headers).not.toHaveProperty('authorization');
      expect(json).toMatchObject({
        systemInstruction: { parts: [{ text: 'Be brief.' }] },
        contents: [
          {
            role: 'user',
            parts: [{ text: 'What is the weather here?' }, { inlineData: { mimeType: 'image/png', data: PIXEL } }],
          },
        ],
        tools: [{ functionDeclarations: [{ name: 'get_weather', parametersJsonSchema: SCHEMA }] }],
      });
      // Schemas arrive as they were written, which for numbers as names JSON.parse does not keep.
      expect(body.toString()).toContain(JSON.stringify(SCHEMA));
      geminiVendor.expectRequest(json);
      expect(await world.relay.onlyCall(world.caller)).toMatchObject({
        status: 'succeeded',
        billing_basis: 'reported',
        prompt_tokens: '1000',
        cached_tokens: '400',
        completion_tokens: '200',
        reasoning_tokens: '50',
        cost: COST,
      });
    },
  );

  describe('go on behind a call that the model has thought about', () => {
    const THOUGHTFUL: AnswerOptions = { reasoning: 'Oslo it is.', toolCalls: [WEATHER_CALL, TIME_CALL], usage: USAGE };
    const CALLS = [
      { functionCall: { id: 'call_9', name: 'get_weather', args: { city: 'Oslo' } } },
      { functionCall: { id: 'call_10', name: 'get_time', args: {} } },
    ];
    const RESULTS = [
      { functionResponse: { id: 'call_9', name: 'get_weather', response: { output: 'Snow.' } } },
      { functionResponse: { id: 'call_10', name: 'get_time', response: { hour: 12 } } },
    ];
    /** That the second turn has the first one's calls and results, and its signature. */
    function expectSecondTurn(thoughtSignature: string): void {
      expect(sentContents().slice(1)).toEqual([
        { role: 'model', parts: [{ ...CALLS[0], thoughtSignature }, CALLS[1]] },
        { role: 'user', parts: RESULTS },
      ]);
      geminiVendor.expectRequest(sent().json);
    }

    it.each([false, true])('with the signature from Messages (streamed: %s)', async (isStreamed) => {
      const request = { ...MESSAGE, model: 'over-gemini', thinking: { type: 'enabled' as const, budget_tokens: 2000 } };
      script(THOUGHTFUL);
      const { messages } = anthropic();
      const first = await (isStreamed ? messages.stream(request).finalMessage() : messages.create(request));
      expect(first.content[0]).toMatchObject({ type: 'thinking', thinking: 'Oslo it is.' });
      expect(sent().json).toMatchObject({
        generationConfig: { thinkingConfig: { includeThoughts: true, thinkingLevel: 'LOW' } },
      });

      script({ text: 'Snow at noon.' });
      const results = [
        { type: 'tool_result' as const, tool_use_id: 'call_9', content: 'Snow.' },
        { type: 'tool_result' as const, tool_use_id: 'call_10', content: '{"hour":12}' },
      ];
      const second = await messages.create({
        ...request,
        messages: [
          ...MESSAGE.messages,
          { role: 'assistant', content: first.content },
          { role: 'user', content: results },
        ],
      });
      expect(readMessage(second).text).toBe('Snow at noon.');
      expectSecondTurn(THOUGHT_SIGNATURE);
    });

    it.each([false, true])('with the signature from Responses (streamed: %s)', async (isStreamed) => {
      const request = {
        ...RESPONSE,
        model: 'over-gemini',
        store: false,
        reasoning: { effort: 'high' as const, summary: 'auto' as const },
        include: ['reasoning.encrypted_content' as const],
      };
      script(THOUGHTFUL);
      const { responses } = openai();
      const first = await (isStreamed ? responses.stream(request).finalResponse() : responses.create(request));
      expect(first.output[0]).toMatchObject({ type: 'reasoning', summary: [{ text: 'Oslo it is.' }] });

      script({ text: 'Snow at noon.' });
      const results = [
        { type: 'function_call_output' as const, call_id: 'call_9', output: 'Snow.' },
        { type: 'function_call_output' as const, call_id: 'call_10', output: '{"hour":12}' },
      ];
      const input = [...RESPONSE.input, ...first.output, ...results] as OpenAI.Responses.ResponseInput;
      expect((await responses.create({ ...request, input })).output_text).toBe('Snow at noon.');
      expectSecondTurn(THOUGHT_SIGNATURE);
    });

    it('without one from Chat Completions, which has no place for it', async () => {
      const request = { ...CHAT, model: 'over-gemini' };
      script(THOUGHTFUL);
      const { completions } = openai().chat;
      const [choice] = (await completions.create(request)).choices;
      script({ text: 'Snow at noon.' });
      const again = await completions.create({
        ...request,
        messages: [
          ...CHAT.messages,
          choice!.message,
          { role: 'tool', tool_call_id: 'call_9', content: 'Snow.' },
          { role: 'tool', tool_call_id: 'call_10', content: '{"hour":12}' },
        ],
      });
      expect(again.choices[0]!.message.content).toBe('Snow at noon.');
      expectSecondTurn(UNSIGNED);
    });
  });

  describe('get JSON of a schema', () => {
    const JSON_RESPONSE = { text: ['{"city":', '"Oslo"}'] };
    const user = [{ role: 'user' as const, content: 'Where?' }];
    const schemas: Readonly<Record<string, () => Promise<string | null>>> = {
      async 'openai chat'() {
        const json_schema = { name: 'place', schema: SCHEMA, strict: true };
        const { choices } = await openai().chat.completions.create({
          model: 'over-gemini',
          messages: user,
          response_format: { type: 'json_schema', json_schema },
        });
        return choices[0]!.message.content;
      },
      async 'openai responses'() {
        const format = { type: 'json_schema' as const, name: 'place', schema: SCHEMA, strict: true };
        return (await openai().responses.create({ model: 'over-gemini', input: user, text: { format } })).output_text;
      },
      async 'anthropic messages'() {
        const format = { type: 'json_schema' as const, schema: SCHEMA };
        const request = { model: 'over-gemini', max_tokens: 100, messages: user, output_config: { format } };
        return readMessage(await anthropic().messages.create(request)).text;
      },
    };

    it.each(Object.keys(schemas))('%s', async (client) => {
      script(JSON_RESPONSE);
      expect(await schemas[client]!()).toBe('{"city":"Oslo"}');
      expect(sent().body.toString()).toContain(`"responseJsonSchema":${JSON.stringify(SCHEMA)}`);
    });
  });

  describe('raise errors of the right class', () => {
    const failing: Readonly<Record<string, (stream: boolean) => Promise<unknown>>> = {
      'openai chat': (stream) => openai().chat.completions.create({ ...CHAT, model: 'over-gemini', stream }),
      'openai responses': (stream) => openai().responses.create({ ...RESPONSE, model: 'over-gemini', stream }),
      'anthropic messages': (stream) => anthropic().messages.create({ ...MESSAGE, model: 'over-gemini', stream }),
    };
    const clients = Object.keys(failing).flatMap((client) => [false, true].map((stream) => [client, stream] as const));
    const errorOf = async (client: string, stream: boolean): Promise<InstanceType<typeof OpenAI.APIError>> => {
      const outcome: unknown = await failing[client]!(stream).catch((error: unknown) => error);
      expect(outcome).toBeInstanceOf(client.startsWith('openai') ? OpenAI.APIError : Anthropic.APIError);
      return outcome as InstanceType<typeof OpenAI.APIError>;
    };
    const refuse = (code: number, status: string, message: string, details: readonly object[] = []): void =>
      world.relay.upstream.script(jsonAnswer(code, { error: { code, message, status, details } }));

    it.each(clients)('for a prompt that is too long: %s (streamed: %s)', async (client, stream) => {
      const message = 'The input token count (1048577) exceeds the maximum number of tokens allowed (1048576).';
      refuse(400, 'INVALID_ARGUMENT', message);
      const error = await errorOf(client, stream);
      expect(error.status).toBe(400);
      expect(error.message).toContain(message);
      if (client.startsWith('openai')) expect(error).toMatchObject({ code: 'context_length_exceeded' });
      else expect(error.message).toContain('prompt is too long');
    });

    it.each(clients)('for a limit, with the time that Google names: %s (streamed: %s)', async (client, stream) => {
      const retry = { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '34.2s' };
      refuse(429, 'RESOURCE_EXHAUSTED', 'You exceeded your current quota, please check your plan and billing.', [
        retry,
      ]);
      const error = await errorOf(client, stream);
      expect([error.status, new Headers(error.headers).get('retry-after')]).toEqual([429, '35']);
      expect(error.message).not.toContain('billing');
    });

    it.each(clients)('for a key of ours that Google refuses with 400: %s (streamed: %s)', async (client, stream) => {
      const info = { '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'API_KEY_INVALID' };
      refuse(400, 'INVALID_ARGUMENT', 'API key expired. Please renew the API key.', [info]);
      const error = await errorOf(client, stream);
      expect(error.status).toBe(502);
      expect(error.message).not.toContain('API key');
    });
  });
});
