import { once } from 'node:events';
import { type ClientRequest, type IncomingMessage, request as openRequest } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';

import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';

import {
  type AnswerOptions,
  answerIn,
  bytes,
  chatAnswer,
  chatEvents,
  chunkEvery,
  cutAt,
  cutAtEveryPosition,
  delay,
  destroy,
  type Dialect,
  encodeEvents,
  ENCRYPTED_REASONING,
  end,
  endlessStream,
  errorAnswer,
  errorEvents,
  eventsIn,
  gate,
  hang,
  head,
  messagesAnswer,
  messagesEvents,
  pacedStream,
  raw,
  responsesAnswer,
  responsesEvents,
  type Script,
  type ScriptedEvent,
  ScriptedUpstream,
  sse,
  stopAfter,
  streamHead,
  THINKING_SIGNATURE,
  TIME_CALL,
  waitFor,
  WEATHER_CALL,
} from '../support/scripted-upstream.js';

const PATHS: readonly (readonly [Dialect, string])[] = [
  ['responses', '/responses'],
  ['chat-completions', '/chat/completions'],
  ['messages', '/messages'],
];
const MESSAGES = [{ role: 'user' as const, content: 'Hi' }];
const CACHED = { prompt: 9, cacheRead: 4, completion: 7, reasoning: 3 };

/** What an official client understood of an answer, in words of our own. */
interface Understood {
  readonly text: string;
  readonly reasoning: string;
  /** `name arguments` of every call, arguments as JSON. */
  readonly calls: readonly string[];
  readonly stop: string;
  readonly prompt: number;
  readonly completion: number;
}

describe('The scripted upstream', () => {
  let upstream: ScriptedUpstream;
  let openai: OpenAI;
  let anthropic: Anthropic;

  beforeAll(async () => {
    upstream = await ScriptedUpstream.start();
    openai = new OpenAI({ baseURL: upstream.url, apiKey: 'any', maxRetries: 0 });
    anthropic = new Anthropic({ baseURL: upstream.origin, apiKey: 'any', maxRetries: 0 });
  });
  afterEach(() => upstream.reset());
  afterAll(() => upstream.close());

  /** Sends a request and gives the answer as it starts; its chunks are those the upstream wrote. */
  const open = async (path: string, body: unknown = {}): Promise<[IncomingMessage, ClientRequest]> => {
    const client = openRequest(upstream.url + path, { method: 'POST', agent: false });
    client.end(JSON.stringify(body));
    const [response] = (await once(client, 'response')) as [IncomingMessage];
    // Tests that break connections look at the chunks they got, not at this event.
    client.on('error', () => undefined);
    return [response, client];
  };
  const readChunks = async (path: string, body?: unknown): Promise<Buffer[]> => {
    const [response] = await open(path, body);
    const chunks: Buffer[] = [];
    for await (const chunk of response) chunks.push(chunk as Buffer);
    return chunks;
  };

  const understand: Record<Dialect, (stream: boolean) => Promise<Understood>> = {
    responses: async (stream) => understandResponse(await askResponses(openai, stream)),
    'chat-completions': async (stream) => understandChat(await askChat(openai, stream)),
    messages: async (stream) => understandMessage(await askMessages(anthropic, stream)),
  };

  describe('recording', () => {
    it('keeps a request as it stood on the wire', async () => {
      const response = await fetch(`${upstream.url}/messages?beta=true`, {
        method: 'POST',
        headers: { 'X-Api-Key': 'secret' },
        body: '{"model":"m","n":9007199254740993}',
      });
      expect(response.status).toBe(200);
      const request = await upstream.nextRequest();
      expect(request).toMatchObject({ method: 'POST', path: '/v1/messages', dialect: 'messages' });
      expect(request.query.get('beta')).toBe('true');
      expect(request.headers['x-api-key']).toBe('secret');
      expect(request.rawHeaders.map((header) => header.toLowerCase())).toContain('x-api-key');
      expect(request.body.toString()).toBe('{"model":"m","n":9007199254740993}');
      expect(request.receivedAt).toBeLessThanOrEqual(performance.now());
      await response.text();
      expect(await request.closed).toBe('finished');
      expect(request.closedAt).toBeUndefined();
    });

    it('hands out requests one after another, those before the asking first', async () => {
      await readChunks('/responses', { stream: true });
      const second = fetch(`${upstream.url}/models`);
      expect((await upstream.nextRequest()).path).toBe('/v1/responses');
      expect((await upstream.nextRequest()).path).toBe('/v1/models');
      await (await second).text();
      await expect(upstream.nextRequest(20)).rejects.toThrow('received no further request');
      expect(upstream.requests).toHaveLength(2);
    });

    it.each([
      ['before the head', [hang()]],
      ['after the head', [streamHead(), hang()]],
      ['inside the body', [streamHead(), bytes('data: {'), hang()]],
      ['while waiting', [waitFor(new Promise(() => undefined))]],
      ['during a delay', [delay(3_600_000)]],
      ['during an endless stream', endlessStream('messages', { gapMs: 0 })],
    ] as [string, Script][])('notices a client that leaves %s', async (_when, script) => {
      upstream.script(script);
      const client = openRequest(`${upstream.url}/messages`, { method: 'POST', agent: false });
      client.on('error', () => undefined);
      client.end('{}');
      const request = await upstream.nextRequest();
      await wait(20);
      const left = performance.now();
      client.destroy();
      expect(await request.closed).toBe('left');
      expect(request.closedAt! - left).toBeGreaterThanOrEqual(0);
      expect(request.closedAt! - left).toBeLessThan(500);
    });

    it('calls it cut, not left, when script or test broke the connection', async () => {
      upstream.scriptNext([streamHead(), destroy()], hang());
      await expect(fetch(`${upstream.url}/responses`).then((response) => response.text())).rejects.toThrow(
        'terminated',
      );
      const request = await upstream.nextRequest();
      expect([await request.closed, request.closedAt]).toEqual(['cut', undefined]);

      const hanging = fetch(`${upstream.url}/responses`);
      const cut = await upstream.nextRequest();
      upstream.reset();
      await expect(hanging).rejects.toThrow('fetch failed');
      expect(await cut.closed).toBe('cut');
    });
  });

  describe('bytes', () => {
    it.each(PATHS)('sends exactly what lastSent says (%s)', async (dialect, path) => {
      for (const stream of [true, false]) {
        const received = Buffer.concat(await readChunks(path, { model: 'm', stream }));
        expect(received.length).toBeGreaterThan(50);
        expect(received.equals(upstream.lastSent)).toBe(true);
        if (stream) expect(received.equals(encodeEvents(eventsIn(dialect, { model: 'm' })))).toBe(true);
      }
    });

    it('writes each event in one piece, or in pieces of any size', async () => {
      const events = chatEvents();
      const body = encodeEvents(events);
      upstream.script(chatAnswer({ stream: true }));
      expect(await readChunks('/chat/completions')).toHaveLength(events.length);
      upstream.script([chunkEvery(1), chatAnswer({ stream: true })]);
      expect(await readChunks('/chat/completions')).toHaveLength(body.length);
      upstream.script([chunkEvery(4), head(200), bytes('abcdefghij')]);
      expect((await readChunks('/responses')).map(String)).toEqual(['abcd', 'efgh', 'ij']);
    });

    it('cuts at given offsets of the whole body, across writes', async () => {
      upstream.script([cutAt(7, 2), head(200), bytes('abcde'), bytes('fghij')]);
      const chunks = await readChunks('/responses');
      expect(chunks.map(String)).toEqual(['ab', 'cde', 'fg', 'hij']);
    });

    it('offers every cut of a body in turn', async () => {
      const events: ScriptedEvent[] = [{ data: 'ø' }];
      const halves: string[] = [];
      for (const script of cutAtEveryPosition(events)) {
        upstream.script(script);
        const chunks = await readChunks('/responses');
        expect(Buffer.concat(chunks).toString()).toBe('data: ø\n\n');
        halves.push(chunks.map(({ length }) => length).join('+'));
      }
      expect(halves).toEqual(['1+9', '2+8', '3+7', '4+6', '5+5', '6+4', '7+3', '8+2', '9+1']);
    });

    it.each(['end', 'close', 'reset'] as const)('truncates a body (%s)', async (how) => {
      upstream.script([stopAfter(30, how), chatAnswer({ stream: true })]);
      const [response] = await open('/chat/completions');
      const received: Buffer[] = [];
      response.on('data', (chunk: Buffer) => received.push(chunk));
      response.on('error', () => undefined);
      await new Promise((resolve) => response.once('close', resolve));
      expect(upstream.lastSent).toHaveLength(30);
      expect(response.complete).toBe(how === 'end');
      // A reset may overtake the bytes before it.
      if (how !== 'reset') expect(Buffer.concat(received).equals(upstream.lastSent)).toBe(true);
    });

    it('speaks past HTTP where a test wants garbage', async () => {
      upstream.script([raw('SMTP ready\r\n\r\n'), destroy('close')]);
      await expect(open('/responses')).rejects.toMatchObject({ code: expect.stringMatching(/^HPE_/u) as string });
    });
  });

  describe('timing', () => {
    it('goes on when a gate opens', async () => {
      const ready = gate();
      upstream.script([streamHead(), bytes('one'), waitFor(ready), bytes('two')]);
      const [response] = await open('/responses');
      expect(String((await once(response, 'data'))[0])).toBe('one');
      await wait(20);
      expect(String(upstream.lastSent)).toBe('one');
      ready.open();
      expect(String((await once(response, 'data'))[0])).toBe('two');
    });

    it('paces a stream', async () => {
      const events = chatEvents();
      upstream.script(pacedStream('chat-completions', events, 20));
      const begun = performance.now();
      expect(Buffer.concat(await readChunks('/chat/completions')).equals(encodeEvents(events))).toBe(true);
      expect(performance.now() - begun).toBeGreaterThanOrEqual(events.length * 19);
    });

    it.each(PATHS)('goes on for ever, in the grammar of the dialect (%s)', async (dialect, path) => {
      upstream.script(endlessStream(dialect, { text: 'x', gapMs: 0 }));
      const [response, client] = await open(path);
      let received = '';
      for await (const chunk of response) {
        received += String(chunk);
        if (received.length > 20_000) break;
      }
      client.destroy();
      const blocks = received.split('\n\n').slice(0, -1);
      const opening = String(encodeEvents(eventsIn(dialect, { text: 'x' }))).split('\n\n');
      const same = dialect === 'responses' ? 5 : dialect === 'messages' ? 4 : 2;
      expect(blocks.slice(0, same)).toEqual(opening.slice(0, same));
      const numbers = blocks.map((block) => /"sequence_number":(\d+)/u.exec(block)?.[1]);
      if (dialect === 'responses') expect(numbers).toEqual(blocks.map((_block, index) => String(index)));
      expect(await (await upstream.nextRequest()).closed).toBe('left');
    });

    it('does not run ahead of a client that does not read', async () => {
      upstream.script(endlessStream('chat-completions', { text: 'x'.repeat(60_000), gapMs: 0 }));
      const [response, client] = await open('/chat/completions');
      response.pause();
      const request = await upstream.nextRequest();
      let before = -1;
      // Until the buffers of the two sockets are full.
      while (request.sentBytes > before && before < 50_000_000) {
        before = request.sentBytes;
        await wait(200);
      }
      expect(request.sentBytes).toBeLessThan(50_000_000);
      expect(request.sent.length).toBeLessThanOrEqual(8 * 1024 * 1024);
      client.destroy();
      expect(await request.closed).toBe('left');
    });
  });

  describe('scripts', () => {
    it('apply to the next requests first, then to all, until reset', async () => {
      upstream.script(bytes('standing'));
      upstream.scriptNext(bytes('first'), (request) => bytes(`second ${request.path}`));
      const answers: string[] = [];
      for (let count = 0; count < 4; count += 1) answers.push(Buffer.concat(await readChunks('/x')).toString());
      expect(answers).toEqual(['first', 'second /v1/x', 'standing', 'standing']);
      upstream.reset();
      expect(upstream.requests).toHaveLength(0);
      expect(Buffer.concat(await readChunks('/x')).toString()).toContain('Scripted error 404');
    });

    it('that throw are reported by reset, not swallowed', async () => {
      upstream.script(() => {
        throw new Error('a mistake in the test');
      });
      await expect(fetch(`${upstream.url}/responses`)).rejects.toThrow('fetch failed');
      expect(() => upstream.reset()).toThrow(AggregateError);
    });
  });

  describe('ready-made answers', () => {
    describe.each(PATHS)('of %s, read by the official client', (dialect) => {
      describe.each([true, false])('streamed: %s', (stream) => {
        it('say Hello with 9 and 2 tokens when nothing is scripted', async () => {
          expect(await understand[dialect](stream)).toEqual({
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
          upstream.script(answerIn(dialect, options));
          expect(await understand[dialect](stream)).toEqual({
            text: 'Let me see.',
            reasoning: 'Compare both.',
            calls: ['get_weather {"city":"Oslo"}', 'get_time {}'],
            stop: 'tools',
            prompt: 9,
            completion: 7,
          });
        });

        it('carry tool calls alone', async () => {
          upstream.script(answerIn(dialect, { toolCalls: [WEATHER_CALL] }));
          const understood = await understand[dialect](stream);
          expect(understood).toMatchObject({ text: '', calls: ['get_weather {"city":"Oslo"}'], stop: 'tools' });
        });

        it('stop for length', async () => {
          upstream.script(answerIn(dialect, { text: 'Hel', stop: 'length' }));
          expect(await understand[dialect](stream)).toMatchObject({ text: 'Hel', stop: 'length' });
        });

        it('carry HTTP errors with their headers', async () => {
          upstream.script(errorAnswer(dialect, 429, undefined, { 'retry-after': 7 }));
          const error = (await understand[dialect](stream).catch((reason: unknown) => reason)) as InstanceType<
            typeof OpenAI.APIError
          >;
          expect(error).toBeInstanceOf(dialect === 'messages' ? Anthropic.RateLimitError : OpenAI.RateLimitError);
          expect(error.message).toContain('Scripted error 429.');
          expect(error.headers?.get('retry-after')).toBe('7');
        });
      });

      it('fail in the stream, and the client notices', async () => {
        const started = eventsIn(dialect).slice(0, dialect === 'responses' ? 5 : 3);
        upstream.script([streamHead(), sse(started), sse(errorEvents(dialect, 'Broken.', started.length)), end()]);
        await expect(understand[dialect](true)).rejects.toThrow('Broken.');
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
      upstream.scriptNext(responsesAnswer({ reasoning: 'r' }), messagesAnswer({ reasoning: 'r' }));
      const response = await openai.responses.create({ model: 'm', input: 'Hi' });
      const message = await anthropic.messages.create({ model: 'm', max_tokens: 9, messages: MESSAGES });
      expect(response.output[0]).toMatchObject({ type: 'reasoning', encrypted_content: ENCRYPTED_REASONING });
      expect(message.content[0]).toMatchObject({ type: 'thinking', signature: THINKING_SIGNATURE });
    });

    it('honour include_usage and repeat the model of the request', async () => {
      const bare = Buffer.concat(await readChunks('/chat/completions', { model: 'x', stream: true })).toString();
      expect(bare).toContain('"model":"x"');
      expect(bare).not.toContain('usage');
      const asked = { model: 'x', stream: true, stream_options: { include_usage: true } };
      expect(Buffer.concat(await readChunks('/chat/completions', asked)).toString()).toContain(
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

function understandChat({ choices, usage }: OpenAI.ChatCompletion): Understood {
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

function understandResponse(response: OpenAI.Responses.Response): Understood {
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

function understandMessage({ content, stop_reason, usage }: Anthropic.Message): Understood {
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
