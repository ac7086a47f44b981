import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { chunksOf } from '../support/chunks.js';
import {
  type AnswerOptions,
  responseIn,
  chatEvents,
  type ProtocolEndpoint,
  encodeEvents,
  ENCRYPTED_REASONING,
  end,
  errorResponse,
  errorEvents,
  eventsIn,
  messagesResponse,
  messagesEvents,
  responsesResponse,
  responsesEvents,
  ScriptedUpstream,
  sse,
  streamHead,
  THINKING_SIGNATURE,
  TIME_CALL,
  WEATHER_CALL,
} from '../support/scripted-upstream.js';

const MESSAGES = [{ role: 'user' as const, content: 'Hi' }];
const PATHS: readonly (readonly [ProtocolEndpoint, string])[] = [
  ['responses', '/responses'],
  ['chat-completions', '/chat/completions'],
  ['messages', '/messages'],
];
const CACHED = { prompt: 9, cacheRead: 4, completion: 7, reasoning: 3 };

/** What an official client understood of a response, in words of our own. */
interface ClientReading {
  readonly text: string;
  readonly reasoning: string;
  /** `name arguments` of every call, arguments as JSON. */
  readonly calls: readonly string[];
  readonly stop: string;
  readonly prompt: number;
  readonly completion: number;
}

describe('The scripted upstream', () => {
  let openai: OpenAI;
  let anthropic: Anthropic;
  let upstream: ScriptedUpstream;

  beforeAll(async () => {
    upstream = await ScriptedUpstream.start();
    openai = new OpenAI({ baseURL: upstream.url, apiKey: 'any', maxRetries: 0 });
    anthropic = new Anthropic({ baseURL: upstream.origin, apiKey: 'any', maxRetries: 0 });
  });
  afterEach(() => upstream.reset());
  afterAll(() => upstream.close());

  const readChunks = (path: string, body: unknown): Promise<Buffer[]> => chunksOf(upstream.url + path, body);
  const understand: Record<ProtocolEndpoint, (stream: boolean) => Promise<ClientReading>> = {
    responses: async (stream) => understandResponse(await askResponses(openai, stream)),
    'chat-completions': async (stream) => understandChat(await askChat(openai, stream)),
    messages: async (stream) => understandMessage(await askMessages(anthropic, stream)),
  };

  describe('ready-made responses', () => {
    describe.each(PATHS)('of %s, read by the official client', (protocol) => {
      describe.each([true, false])('streamed: %s', (stream) => {
        it('say Hello with 9 and 2 tokens when nothing is scripted', async () => {
          expect(await understand[protocol](stream)).toEqual({
            text: 'Hello',
            reasoning: '',
            calls: [],
            stop: 'end',
            prompt: 9,
            completion: 2,
          });
        });

        it('carry text, reasoning, parallel tool calls and usage', async () => {
          const options: AnswerOptions = {
            text: ['Let me ', 'see.'],
            reasoning: ['Compare ', 'both.'],
            toolCalls: [WEATHER_CALL, TIME_CALL],
            usage: CACHED,
          };
          upstream.script(responseIn(protocol, options));
          expect(await understand[protocol](stream)).toEqual({
            text: 'Let me see.',
            reasoning: 'Compare both.',
            calls: ['get_weather {"city":"Oslo"}', 'get_time {}'],
            stop: 'tools',
            prompt: 9,
            completion: 7,
          });
        });

        it('carry tool calls alone', async () => {
          upstream.script(responseIn(protocol, { toolCalls: [WEATHER_CALL] }));
          const understood = await understand[protocol](stream);
          expect(understood).toMatchObject({ text: '', calls: ['get_weather {"city":"Oslo"}'], stop: 'tools' });
        });

        it('stop for length', async () => {
          upstream.script(responseIn(protocol, { text: 'Hel', stop: 'length' }));
          expect(await understand[protocol](stream)).toMatchObject({ text: 'Hel', stop: 'length' });
        });

        it('carry HTTP errors with their headers', async () => {
          upstream.script(errorResponse(protocol, 429, undefined, { 'retry-after': 7 }));
          const error = (await understand[protocol](stream).catch((reason: unknown) => reason)) as InstanceType<
            typeof OpenAI.APIError
          >;
          expect(error).toBeInstanceOf(protocol === 'messages' ? Anthropic.RateLimitError : OpenAI.RateLimitError);
          expect(error.message).toContain('Scripted error 429.');
          expect(error.headers?.get('retry-after')).toBe('7');
        });
      });

      it('fail in the stream, and the client notices', async () => {
        const started = eventsIn(protocol).slice(0, protocol === 'responses' ? 5 : 3);
        upstream.script([streamHead(), sse(started), sse(errorEvents(protocol, 'Broken.', started.length)), end()]);
        await expect(understand[protocol](true)).rejects.toThrow('Broken.');
      });
    });

    it('follow the transcript of Chat Completions to the letter', () => {
      const prefix = '"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"m"';
      const chunk = (delta: string, finish = 'null'): string =>
        `data: {${prefix},"choices":[{"index":0,"delta":${delta},"logprobs":null,"finish_reason":${finish}}],"usage":null}\n\n`;
      expect(String(encodeEvents(chatEvents({ includeUsage: true })))).toBe(
        chunk('{"role":"assistant","content":""}') +
          chunk('{"content":"Hel"}') +
          chunk('{"content":"lo"}') +
          chunk('{}', '"stop"') +
          `data: {${prefix},"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":2,"total_tokens":11,` +
          '"prompt_tokens_details":{"cached_tokens":0},"completion_tokens_details":{"reasoning_tokens":0}}}\n\n' +
          'data: [DONE]\n\n',
      );
    });

    it('follow the transcript of Messages to the letter', () => {
      const usage = (output: number): string =>
        `"usage":{"input_tokens":9,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":${output}}`;
      const event = (name: string, rest = ''): string => `event: ${name}\ndata: {"type":"${name}"${rest}}\n\n`;
      const delta = (text: string): string =>
        event('content_block_delta', `,"index":0,"delta":{"type":"text_delta","text":"${text}"}`);
      expect(String(encodeEvents(messagesEvents()))).toBe(
        event(
          'message_start',
          ',"message":{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[],' +
            `"stop_reason":null,"stop_sequence":null,"stop_details":null,${usage(1)}}`,
        ) +
          event('ping') +
          event('content_block_start', ',"index":0,"content_block":{"type":"text","text":""}') +
          delta('Hel') +
          delta('lo') +
          event('content_block_stop', ',"index":0') +
          event('message_delta', `,"delta":{"stop_reason":"end_turn","stop_sequence":null},${usage(2)}`) +
          event('message_stop'),
      );
    });

    it('follow the transcript of Responses to the letter, between the response objects', () => {
      const place = '"item_id":"msg_a","output_index":0,"content_index":0';
      const part = (text: string): string => `{"type":"output_text","text":"${text}","annotations":[]}`;
      const item = (status: string, content: string): string =>
        `{"type":"message","id":"msg_a","status":"${status}","role":"assistant","content":[${content}]}`;
      const expected = [
        ['output_item.added', `"output_index":0,"item":${item('in_progress', '')}`],
        ['content_part.added', `${place},"part":${part('')}`],
        ['output_text.delta', `${place},"delta":"Hel","logprobs":[]`],
        ['output_text.delta', `${place},"delta":"lo","logprobs":[]`],
        ['output_text.done', `${place},"text":"Hello","logprobs":[]`],
        ['content_part.done', `${place},"part":${part('Hello')}`],
        ['output_item.done', `"output_index":0,"item":${item('completed', part('Hello'))}`],
      ].map(
        ([name, rest], index) =>
          `event: response.${name}\ndata: {"type":"response.${name}","sequence_number":${index + 2},${rest}}\n\n`,
      );
      const events = responsesEvents();
      expect(events.map(({ event }) => event).join(' ')).toMatch(
        /^response\.created response\.in_progress .* response\.completed $/u,
      );
      expect(String(encodeEvents(events.slice(2, 9)))).toBe(expected.join(''));
      expect(events.at(-1)).toEqual({ data: '[DONE]' });
    });

    it('sign what clients must bring back', async () => {
      upstream.scriptNext(responsesResponse({ reasoning: 'r' }), messagesResponse({ reasoning: 'r' }));
      const response = await openai.responses.create({ model: 'm', input: 'Hi' });
      const message = await anthropic.messages.create({ model: 'm', max_tokens: 9, messages: MESSAGES });
      expect(response.output[0]).toMatchObject({ type: 'reasoning', encrypted_content: ENCRYPTED_REASONING });
      expect(message.content[0]).toMatchObject({ type: 'thinking', signature: THINKING_SIGNATURE });
    });

    it('honour include_usage and repeat the model of the request', async () => {
      const bare = Buffer.concat(await readChunks('/chat/completions', { model: 'x', stream: true })).toString();
      expect(bare).toContain('"model":"x"');
      expect(bare).not.toContain('usage');
      const requested = { model: 'x', stream: true, stream_options: { include_usage: true } };
      expect(Buffer.concat(await readChunks('/chat/completions', requested)).toString()).toContain(
        '"choices":[],"usage":{',
      );
    });

    it('answer token counting and model lists, and refuse what is no JSON', async () => {
      const counted = await anthropic.messages.countTokens({ model: 'm', messages: MESSAGES });
      expect(counted.input_tokens).toBe(9);
      expect((await openai.models.list()).data.map(({ id }) => id)).toEqual(['m']);
      const broken = await fetch(`${upstream.url}/messages`, { method: 'POST', body: '{' });
      expect([broken.status, await broken.json()]).toMatchObject([400, { type: 'error' }]);
    });
  });
});

const askChat = async (client: OpenAI, stream: boolean): Promise<OpenAI.ChatCompletion> => {
  const body = { model: 'm', messages: MESSAGES };
  if (!stream) return client.chat.completions.create(body);
  const running = client.chat.completions.stream({ ...body, stream_options: { include_usage: true } });
  // The stream helper keeps only the last piece of fields it does not know, so reasoning is gathered by hand.
  const reasoning: string[] = [];
  running.on('chunk', ({ choices }) => {
    reasoning.push(reasoningIn(choices[0]?.delta));
  });
  const completion = await running.finalChatCompletion();
  Object.assign(completion.choices[0]!.message, { reasoning_content: reasoning.join('') });
  return completion;
};

/** The field is no vendor's, so the client's types do not have it. */
const reasoningIn = (value: object | undefined): string =>
  (value as { readonly reasoning_content?: string } | undefined)?.reasoning_content ?? '';

const askResponses = async (client: OpenAI, stream: boolean): Promise<OpenAI.Responses.Response> => {
  const body = { model: 'm', input: 'Hi' };
  return stream ? client.responses.stream(body).finalResponse() : client.responses.create(body);
};

const askMessages = (client: Anthropic, stream: boolean): Promise<Anthropic.Message> => {
  const body = { model: 'm', max_tokens: 100, messages: MESSAGES };
  return stream ? client.messages.stream(body).finalMessage() : client.messages.create(body);
};

const STOPS: Readonly<Record<string, string>> = {
  stop: 'end',
  end_turn: 'end',
  completed: 'end',
  length: 'length',
  max_tokens: 'length',
  max_output_tokens: 'length',
  tool_calls: 'tools',
  tool_use: 'tools',
};

function understandChat({ choices, usage }: OpenAI.ChatCompletion): ClientReading {
  const { message, finish_reason } = choices[0]!;
  const calls = (message.tool_calls ?? []).map((call) =>
    call.type === 'function' ? `${call.function.name} ${call.function.arguments}` : call.type,
  );
  return {
    text: message.content ?? '',
    reasoning: reasoningIn(message),
    calls,
    stop: STOPS[finish_reason] ?? finish_reason,
    prompt: usage!.prompt_tokens,
    completion: usage!.completion_tokens,
  };
}

function understandResponse(response: OpenAI.Responses.Response): ClientReading {
  const calls = response.output.flatMap((item) =>
    item.type === 'function_call' ? [`${item.name} ${item.arguments}`] : [],
  );
  const stop = response.incomplete_details?.reason ?? response.status ?? '';
  return {
    text: response.output_text,
    reasoning: response.output.flatMap((item) => (item.type === 'reasoning' ? item.summary : []))[0]?.text ?? '',
    calls,
    stop: calls.length > 0 ? 'tools' : (STOPS[stop] ?? stop),
    prompt: response.usage!.input_tokens,
    completion: response.usage!.output_tokens,
  };
}

function understandMessage({ content, stop_reason, usage }: Anthropic.Message): ClientReading {
  const pick = (read: (block: Anthropic.ContentBlock) => string | undefined): string[] =>
    content.map(read).filter((value) => value !== undefined);
  return {
    text: pick((block) => (block.type === 'text' ? block.text : undefined)).join(''),
    reasoning: pick((block) => (block.type === 'thinking' ? block.thinking : undefined)).join(''),
    calls: pick((block) => (block.type === 'tool_use' ? `${block.name} ${JSON.stringify(block.input)}` : undefined)),
    stop: STOPS[stop_reason ?? ''] ?? String(stop_reason),
    prompt: usage.input_tokens + (usage.cache_read_input_tokens ?? 0),
    completion: usage.output_tokens,
  };
}
