import { createHook } from 'node:async_hooks';
import { once } from 'node:events';
import { request as openRequest } from 'node:http';

import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';

import { DEMO_MODEL, type DemoUpstream, startDemoUpstream } from '../../src/app/demo/demo.server.js';

type Json = Record<string, unknown>;
interface Event {
  readonly event: string | undefined;
  readonly data: Json | '[DONE]';
}

const ONE_HOUR_MS = 3_600_000;

const PROMPT = 'Tell me about the northern lights';
const MESSAGES = [{ role: 'user' as const, content: PROMPT }];

describe('The demo upstream', () => {
  let demo: DemoUpstream;
  let openai: OpenAI;
  let anthropic: Anthropic;

  beforeAll(async () => {
    demo = await startDemoUpstream({ firstTokenMs: 5, tokenMs: 0 });
    openai = new OpenAI({ baseURL: demo.baseUrl, apiKey: 'any', maxRetries: 0 });
    anthropic = new Anthropic({ baseURL: demo.baseUrl.replace('/v1', ''), apiKey: 'any', maxRetries: 0 });
  });
  afterAll(() => demo.close());

  const post = (path: string, body: unknown): Promise<Response> =>
    fetch(demo.baseUrl + path, { method: 'POST', body: typeof body === 'string' ? body : JSON.stringify(body) });
  const postJson = async (path: string, body: unknown): Promise<Json> =>
    (await (await post(path, body)).json()) as Json;
  const postStream = async (path: string, body: unknown): Promise<Event[]> =>
    parseEvents(await (await post(path, { ...(body as Json), stream: true })).text());

  const expectDemoText = (text: string): void => {
    expect(text).toContain('built-in demo model');
    expect(text).toContain(`“${PROMPT}”`);
    expect(text).toContain('switchboard -- catalog apply examples/openai.yaml');
  };

  describe('over Chat Completions', () => {
    it('satisfies the official client, streamed and whole, with the same text and usage', async () => {
      const whole = await openai.chat.completions.create({ model: 'any-name', messages: MESSAGES });
      const streamed = await openai.chat.completions
        .stream({ model: 'any-name', messages: MESSAGES, stream_options: { include_usage: true } })
        .finalChatCompletion();
      expectDemoText(whole.choices[0]!.message.content!);
      expect(streamed.choices[0]!.message.content).toBe(whole.choices[0]!.message.content);
      expect(streamed.choices[0]!.finish_reason).toBe('stop');
      expect(streamed.usage).toEqual(whole.usage);
      expect(whole.model).toBe('any-name');
      // One token for every four characters begun.
      expect(whole.usage!.prompt_tokens).toBe(Math.ceil(PROMPT.length / 4));
      expect(whole.usage!.completion_tokens).toBe(Math.ceil(whole.choices[0]!.message.content!.length / 4));
      expect(whole.usage!.total_tokens).toBe(whole.usage!.prompt_tokens + whole.usage!.completion_tokens);
    });

    it('streams role, text, one finish and [DONE] under one id, and no usage unless asked', async () => {
      const events = await postStream('/chat/completions', { model: 'm', messages: MESSAGES });
      expect(events.at(-1)!.data).toBe('[DONE]');
      const chunks = events.slice(0, -1).map(({ data }) => data as Json);
      expect(new Set(chunks.map(({ id, created, model }) => `${id} ${created} ${model}`)).size).toBe(1);
      expect(at(chunks, 0, 'choices', 0, 'delta')).toEqual({ role: 'assistant', content: '' });
      expect(chunks.filter((chunk) => at(chunk, 'choices', 0, 'finish_reason') !== null)).toHaveLength(1);
      expect(chunks.at(-1)).toMatchObject({ choices: [{ delta: {}, finish_reason: 'stop' }] });
      expect(chunks.every((chunk) => !('usage' in chunk))).toBe(true);
      expect(events.every(({ event }) => event === undefined)).toBe(true);
    });

    it('sends usage null on every chunk and one usage chunk without choices if asked', async () => {
      const body = { model: 'm', messages: MESSAGES, stream_options: { include_usage: true } };
      const chunks = (await postStream('/chat/completions', body)).slice(0, -1).map(({ data }) => data as Json);
      expect(chunks.slice(0, -1).every((chunk) => chunk['usage'] === null)).toBe(true);
      expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { prompt_tokens: 9 } });
    });

    it.each([{ max_tokens: 3 }, { max_completion_tokens: 3 }, { max_completion_tokens: 3, max_tokens: 50 }])(
      'stops for length at %j',
      async (limit) => {
        const body = await postJson('/chat/completions', { model: 'm', messages: MESSAGES, ...limit });
        expect(body).toMatchObject({
          choices: [{ message: { content: 'Hello! This ' }, finish_reason: 'length' }],
          usage: { completion_tokens: 3 },
        });
      },
    );
  });

  describe('over Responses', () => {
    it('satisfies the official client, streamed and whole, with the same text and usage', async () => {
      const whole = await openai.responses.create({ model: 'm', input: PROMPT });
      const streamed = await openai.responses.stream({ model: 'm', input: MESSAGES }).finalResponse();
      expectDemoText(whole.output_text);
      expect(streamed.output_text).toBe(whole.output_text);
      expect(streamed.usage).toEqual(whole.usage);
      expect(streamed.status).toBe('completed');
    });

    it('numbers its events, names them after their type, and closes what it opened', async () => {
      const events = await postStream('/responses', { model: 'm', input: PROMPT });
      expect(events.at(-1)!.data).toBe('[DONE]');
      const named = events.slice(0, -1).map(({ event, data }) => ({ event, data: data as Json }));
      expect(named.map(({ data }) => data['sequence_number'])).toEqual([...named.keys()]);
      expect(named.every(({ event, data }) => event === data['type'])).toBe(true);
      const types = named.map(({ event }) => event);
      expect(types.filter((type) => type !== 'response.output_text.delta')).toEqual([
        'response.created',
        'response.in_progress',
        'response.output_item.added',
        'response.content_part.added',
        'response.output_text.done',
        'response.content_part.done',
        'response.output_item.done',
        'response.completed',
      ]);
      const text = named.filter(({ data }) => data['delta']).map(({ data }) => data['delta']);
      expect(at(named.at(-1), 'data', 'response', 'output', 0, 'content', 0, 'text')).toBe(text.join(''));
    });

    it('has every key of a response object in every state', async () => {
      const keys =
        'id object created_at completed_at status error incomplete_details model output tools tool_choice truncation ' +
        'parallel_tool_calls text temperature top_p presence_penalty frequency_penalty top_logprobs store background ' +
        'service_tier metadata instructions max_output_tokens max_tool_calls previous_response_id reasoning usage ' +
        'safety_identifier prompt_cache_key';
      const tools = [{ type: 'function', name: 'f' }];
      const events = await postStream('/responses', { model: 'm', input: PROMPT, tools, temperature: 0.5 });
      const responses = events
        .map(({ data }) => at(data, 'response'))
        .filter((response) => response !== undefined) as Json[];
      expect(responses).toHaveLength(3);
      for (const response of responses) {
        expect(Object.keys(response).toSorted()).toEqual(keys.split(' ').toSorted());
        expect(response['temperature']).toBe(0.5);
        expect(response['tools']).toEqual([
          { type: 'function', name: 'f', description: null, parameters: null, strict: null },
        ]);
      }
    });

    it('ends incomplete at the output limit', async () => {
      const events = await postStream('/responses', { model: 'm', input: PROMPT, max_output_tokens: 16 });
      const { type, response } = events.at(-2)!.data as Json;
      expect(type).toBe('response.incomplete');
      expect(response).toMatchObject({
        status: 'incomplete',
        completed_at: null,
        incomplete_details: { reason: 'max_output_tokens' },
        usage: { output_tokens: 16 },
        output: [{ status: 'incomplete' }],
      });
    });
  });

  describe('over Messages', () => {
    it('satisfies the official client, streamed and whole, with the same text and usage', async () => {
      const body = { model: 'm', max_tokens: 500, messages: MESSAGES };
      const whole = await anthropic.messages.create(body);
      const streamed = await anthropic.messages.stream(body).finalMessage();
      const [block] = whole.content;
      expectDemoText(block?.type === 'text' ? block.text : '');
      expect(streamed.content).toEqual([{ type: 'text', text: block?.type === 'text' && block.text }]);
      expect(streamed.stop_reason).toBe('end_turn');
      expect(streamed.usage).toEqual(whole.usage);
    });

    it('opens with message_start and closes with message_stop, every event named', async () => {
      const events = await postStream('/messages', { model: 'm', max_tokens: 2, messages: MESSAGES });
      expect(events.map(({ event }) => event)).toEqual([
        'message_start',
        'ping',
        'content_block_start',
        'content_block_delta',
        'content_block_delta',
        'content_block_stop',
        'message_delta',
        'message_stop',
      ]);
      expect(events.every(({ event, data }) => event === (data as Json)['type'])).toBe(true);
      expect(events[0]!.data).toMatchObject({ message: { content: [], usage: { input_tokens: 9, output_tokens: 0 } } });
      expect(events.at(-2)!.data).toMatchObject({ delta: { stop_reason: 'max_tokens' }, usage: { output_tokens: 2 } });
    });

    it('gives no block at all for max_tokens 0', async () => {
      const body = { model: 'm', max_tokens: 0, messages: MESSAGES };
      expect(await postJson('/messages', body)).toMatchObject({ content: [], usage: { output_tokens: 0 } });
      const names = (await postStream('/messages', body)).map(({ event }) => event);
      expect(names).toEqual(['message_start', 'ping', 'message_delta', 'message_stop']);
    });

    it('counts tokens as it bills them', async () => {
      const body = { model: 'm', system: 'Be brief.', messages: MESSAGES };
      const counted = await anthropic.messages.countTokens(body);
      const answered = await anthropic.messages.create({ ...body, max_tokens: 5 });
      expect(counted.input_tokens).toBe(3 + 9);
      expect(answered.usage.input_tokens).toBe(counted.input_tokens);
    });
  });

  it('quotes only the beginning of a long message, on one line, and never half a character', async () => {
    const content = [{ type: 'text', text: '🦊\n'.repeat(1_000) }];
    const body = await postJson('/chat/completions', { model: 'm', messages: [{ role: 'user', content }] });
    expect(at(body, 'choices', 0, 'message', 'content')).toContain(`You wrote: “${'🦊 '.repeat(29)}🦊…”.`);
  });

  it('answers the last user message, not what tools or the assistant said after it', async () => {
    const messages = [{ role: 'user', content: 'first' }, ...MESSAGES, { role: 'tool', content: 'result' }];
    const body = await postJson('/chat/completions', { model: 'm', messages });
    expect(at(body, 'choices', 0, 'message', 'content')).toContain(`“${PROMPT}”`);
  });

  it('lists its model for the clients of both vendors', async () => {
    const ids = [(await openai.models.list()).data, (await anthropic.models.list()).data].flat().map(({ id }) => id);
    expect(ids).toEqual([DEMO_MODEL, DEMO_MODEL]);
  });

  describe.each([
    ['/chat/completions', { messages: MESSAGES }],
    ['/responses', { input: PROMPT }],
    ['/messages', { messages: MESSAGES, max_tokens: 9 }],
  ])('on %s', (path, body) => {
    it.each([
      ['no JSON', '{"model":', null],
      ['no object', '[]', null],
      ['no model', { ...body }, 'model'],
      ['a wrong stream', { ...body, model: 'm', stream: 'yes' }, 'stream'],
      [
        'empty messages',
        { ...body, model: 'm', messages: [], input: [] },
        path === '/responses' ? 'input' : 'messages',
      ],
    ])('refuses %s in the shape of the protocol', async (_what, bad, param) => {
      const response = await post(path, bad);
      expect(response.status).toBe(400);
      expect(response.headers.get('request-id')).toBe(response.headers.get('x-request-id'));
      const error = (await response.json()) as Json;
      if (path === '/messages') {
        expect(error).toEqual({
          type: 'error',
          error: { type: 'invalid_request_error', message: expect.any(String) },
          request_id: response.headers.get('request-id'),
        });
      } else {
        expect(Object.keys(error['error'] as Json)).toEqual(['message', 'type', 'param', 'code']);
        expect(error['error']).toMatchObject({ type: 'invalid_request_error', param });
      }
    });

    it('stops at once when the client leaves, and keeps no timer', async () => {
      const slow = await startDemoUpstream({ firstTokenMs: 1, tokenMs: ONE_HOUR_MS });
      const timers = watchTimers(ONE_HOUR_MS);
      const client = openRequest(slow.baseUrl + path, { method: 'POST', agent: false });
      client.on('error', () => undefined);
      client.end(JSON.stringify({ model: 'm', ...body, stream: true }));
      const [response] = (await once(client, 'response')) as [NodeJS.ReadableStream];
      response.on('error', () => undefined);
      await once(response, 'data');
      await until(() => timers.running() === 1);
      client.destroy();
      await until(() => timers.running() === 0);
      expect(timers.started()).toBe(1);
      timers.stop();
      await slow.close();
    });
  });

  it('answers an unknown path in the shape its caller reads', async () => {
    const openaiShape = await fetch(`${demo.baseUrl}/files`);
    const anthropicShape = await fetch(`${demo.baseUrl}/files`, { headers: { 'anthropic-version': '2023-06-01' } });
    expect([openaiShape.status, anthropicShape.status]).toEqual([404, 404]);
    expect(await openaiShape.json()).toMatchObject({ error: { type: 'invalid_request_error' } });
    expect(await anthropicShape.json()).toMatchObject({ type: 'error', error: { type: 'not_found_error' } });
  });

  it('refuses a body over 64 MiB with 413', async () => {
    const response = await post('/messages', ' '.repeat(64 * 1024 * 1024 + 1));
    expect(response.status).toBe(413);
    expect(await response.json()).toMatchObject({ error: { type: 'request_too_large' } });
  });

  it('takes its time before the first token and between tokens', async () => {
    const paced = await startDemoUpstream({ firstTokenMs: 80, tokenMs: 20 });
    const begun = performance.now();
    const times: number[] = [];
    const client = new OpenAI({ baseURL: paced.baseUrl, apiKey: 'any' });
    const stream = await client.chat.completions.create({
      model: 'm',
      messages: MESSAGES,
      stream: true,
      max_tokens: 4,
    });
    for await (const chunk of stream) if (chunk.choices[0]?.delta.content) times.push(performance.now() - begun);
    expect(times).toHaveLength(4);
    expect(times[0]).toBeGreaterThanOrEqual(79);
    // A timer may fire up to a millisecond early, so a little less than 80 + 3 × 20.
    expect(times[3]).toBeGreaterThanOrEqual(135);
    await paced.close();
  });

  it('closes while streams are running', async () => {
    const closing = await startDemoUpstream({ firstTokenMs: ONE_HOUR_MS });
    const body = JSON.stringify({ model: 'm', input: 'Hi', stream: true });
    const response = await fetch(`${closing.baseUrl}/responses`, { method: 'POST', body });
    const text = response.text();
    text.catch(() => undefined);
    await closing.close();
    await expect(text).rejects.toThrow('terminated');
  });
});

function parseEvents(text: string): Event[] {
  expect(text.endsWith('\n\n')).toBe(true);
  expect(text).not.toContain('\r');
  return text
    .slice(0, -2)
    .split('\n\n')
    .map((block) => {
      const { event, data } = /^(?:event: (?<event>.*)\n)?data: (?<data>.*)$/u.exec(block)!.groups!;
      return { event, data: data === '[DONE]' ? data : (JSON.parse(data!) as Json) };
    });
}

/** What stands at a path inside a JSON value, undefined if nothing does. */
function at(value: unknown, ...path: readonly (string | number)[]): unknown {
  return path.reduce<unknown>((inner, key) => (inner as Record<string | number, unknown> | undefined)?.[key], value);
}

/** Counts running timers of one duration, so that those of other tests and libraries do not matter. */
function watchTimers(durationMs: number): { started(): number; running(): number; stop(): void } {
  const seen: { _idleTimeout: number; _destroyed: boolean }[] = [];
  const hook = createHook({
    init(_id, type, _trigger, resource: { _idleTimeout: number; _destroyed: boolean }) {
      if (type === 'Timeout' && resource._idleTimeout === durationMs) seen.push(resource);
    },
  }).enable();
  return {
    started: () => seen.length,
    running: () => seen.filter((timer) => !timer._destroyed).length,
    stop: () => hook.disable(),
  };
}

async function until(condition: () => boolean, timeoutMs = 2_000): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  while (!condition()) {
    if (performance.now() > deadline) throw new Error('The condition did not come true in time');
    await new Promise((resolve) => setImmediate(resolve));
  }
}
