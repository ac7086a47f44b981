import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { VENDORS } from '../conformance/protocols/index.js';
import { foldedResponse } from '../conformance/protocols/responses/responses.js';
import { pairsCatalog } from '../support/pairs.js';
import { RelayApp, type TestCaller } from '../support/relay-app.js';
import {
  type AnswerOptions,
  errorResponse,
  gate,
  type JsonObject,
  jsonAnswer,
  type ProtocolEndpoint,
  responseIn,
  waitFor,
} from '../support/scripted-upstream.js';

const SUMMARY = 'The user plans a trip to Oslo.';
const SUMMARY_USAGE = { prompt: 1000, completion: 200 };
const REPLY_USAGE = { prompt: 300, completion: 50 };
/** 1000 × $1 + 200 × $10 per million, and 300 × $1 + 50 × $10. */
const [SUMMARY_NANOS, REPLY_NANOS] = [3_000_000, 800_000];

const call = { type: 'function_call', call_id: 'call_1', name: 'search', arguments: '{"q":"hotels"}' } as const;
const output = { type: 'function_call_output', call_id: 'call_1', output: 'Nordlys' } as const;
const TOOLS = [{ type: 'function', name: 'search', parameters: { type: 'object' }, strict: false }] as const;
const CONVERSATION = [
  { role: 'developer', content: 'Be brief.' },
  { role: 'user', content: 'I want to see Oslo.' },
  call,
  output,
  { role: 'assistant', content: 'Nordlys has rooms.' },
  { role: 'user', content: 'And by train?' },
] as const;

/** Upstreams of Responses and Messages that cannot compact. */
const plainCatalog = (url: string): string =>
  pairsCatalog(url).replaceAll('"sharedState":true', '"sharedState":true,"compaction":false');

let relay: RelayApp;
let caller: TestCaller;
beforeAll(async () => {
  relay = await RelayApp.start();
  await relay.applyCatalog(plainCatalog(relay.upstream.url));
});
afterAll(() => relay.close());
beforeEach(async () => (caller = await relay.caller({ credit: '1000' })));
afterEach(() => relay.upstream.reset());

const openai = (): OpenAI => new OpenAI({ apiKey: caller.key, baseURL: `${relay.url}/v1`, maxRetries: 0 });
const anthropic = (): Anthropic => new Anthropic({ apiKey: caller.key, baseURL: relay.url, maxRetries: 0 });
const responses = (upstream: string, ...options: readonly AnswerOptions[]): void =>
  relay.upstream.scriptNext(...options.map((one) => responseIn(upstream as ProtocolEndpoint, one)));
const summary = { text: SUMMARY, usage: SUMMARY_USAGE };
const reply = { text: 'By train, then.', usage: REPLY_USAGE };
const sent = (at: number): string => relay.upstream.requests[at]!.body.toString();
const post = (path: string, body: object, headers = {}): Promise<Response> =>
  relay.post(path, caller.key, body, headers);
const isExact = async (): Promise<void> => expect(await relay.ledger()).toMatchObject({ exact: true });
const costOf = async (): Promise<unknown> => (await relay.onlyCall(caller))['cost'];

describe.each(VENDORS.map(({ id }) => id))('conversations compacted over an upstream of %s', (upstream) => {
  const model = `over-${upstream}`;

  it('are summarized by one call, and continued from the summary over any upstream', async () => {
    responses(upstream, summary);
    const compaction = await openai().responses.compact({ model, input: [...CONVERSATION] });
    expect(compaction).toMatchObject({
      object: 'response.compaction',
      usage: { input_tokens: 1000, output_tokens: 200 },
    });
    expect(compaction.output.map((item) => item.type)).toEqual(['message', 'message', 'compaction']);
    expect(compaction.output[0]).toMatchObject({
      role: 'user',
      content: [{ type: 'input_text', text: 'I want to see Oslo.' }],
    });
    expect(relay.upstream.requests).toHaveLength(1);
    expect(sent(0)).toContain('Nordlys has rooms.');
    expect(await relay.onlyCall(caller)).toMatchObject({ status: 'succeeded', billing_basis: 'reported' });
    expect(Number(await costOf())).toBe(SUMMARY_NANOS);
    await isExact();

    for (const { id } of VENDORS) {
      responses(id, reply);
      const input = [...compaction.output, { role: 'user', content: 'Go on.' }] as OpenAI.Responses.ResponseInput;
      await openai().responses.create({ model: `over-${id}`, input, store: false });
      const text = relay.upstream.requests.at(-1)!.body.toString();
      expect([text.includes(SUMMARY), text.includes('I want to see Oslo.'), text.includes('rly1.')]).toEqual([
        true,
        true,
        false,
      ]);
    }
  });

  it('get exactly one compaction for a trigger, streamed and not', async () => {
    const input = [...CONVERSATION, { type: 'compaction_trigger' as const }];
    responses(upstream, { ...summary, text: ['The user plans ', 'a trip to Oslo.'] }, summary);
    const stream = openai().responses.stream({ model, input, tools: [...TOOLS] });
    const types: string[] = [];
    for await (const event of stream) types.push(event.type);
    expect(types).toContain('response.compaction.compacting');
    expect(types.filter((type) => type.includes('delta'))).toEqual([]);
    const streamed = await stream.finalResponse();
    const whole = await openai().responses.create({ model, input, tools: [...TOOLS] });
    for (const { output: items, status } of [streamed, whole])
      expect([status, items.map(({ type }) => type)]).toEqual(['completed', ['compaction']]);
  });

  it('are compacted first when they are longer than the threshold, for the price of both passes', async () => {
    responses(upstream, summary, reply);
    const text = await (
      await post('/v1/responses', {
        model,
        input: CONVERSATION,
        tools: TOOLS,
        stream: true,
        context_management: [{ type: 'compaction', compact_threshold: 10 }],
      })
    ).text();
    const response = foldedResponse(text);
    expect((response['output'] as JsonObject[]).map(({ type }) => type)).toEqual(['compaction', 'message']);
    expect(response['usage']).toMatchObject({ input_tokens: 1300, output_tokens: 250 });
    expect(sent(1)).toContain(SUMMARY);
    expect([sent(1).includes('And by train?'), sent(1).includes('Nordlys has rooms.')]).toEqual([true, false]);
    const row = await relay.onlyCall(caller);
    expect(row).toMatchObject({ status: 'succeeded', billing_basis: 'reported' });
    expect(Number(row['cost'])).toBe(SUMMARY_NANOS + REPLY_NANOS);
    expect(await relay.attempts(row.id)).toHaveLength(2);
    await isExact();

    // Its items replace the conversation, although the client sends all of it again.
    responses(upstream, reply);
    const input = [...CONVERSATION, ...(response['output'] as JsonObject[]), { role: 'user', content: 'Thanks.' }];
    await (
      await post('/v1/responses', { model, input, tools: TOOLS, context_management: [{ type: 'compaction' }] })
    ).text();
    expect([sent(2).includes(SUMMARY), sent(2).includes('And by train?'), sent(2).includes('Be brief.')]).toEqual([
      true,
      false,
      true,
    ]);
  });

  it('are compacted first when they are too large to be translated beside streams', async () => {
    responses(upstream, summary, reply);
    const long = 'A hotel near the station. '.repeat(30_000);
    const { output: items } = await openai().responses.create({
      model,
      input: [
        { role: 'user', content: long },
        { role: 'assistant', content: 'Yes.' },
        { role: 'user', content: 'Go on.' },
      ],
      context_management: [{ type: 'compaction', compact_threshold: 50_000 }],
    });
    expect(items.map(({ type }) => type)).toEqual(['compaction', 'message']);
    expect([sent(1).includes(SUMMARY), sent(1).includes('Go on.'), sent(1).length < 10_000]).toEqual([
      true,
      true,
      true,
    ]);
    expect(Number(await costOf())).toBe(SUMMARY_NANOS + REPLY_NANOS);
    await isExact();
  });

  it('are served as they are below the threshold', async () => {
    responses(upstream, reply);
    const { output: items } = await openai().responses.create({
      model,
      input: 'Hello',
      context_management: [{ type: 'compaction' }],
    });
    expect([items.map(({ type }) => type), relay.upstream.requests.length]).toEqual([['message'], 1]);
    expect(Number(await costOf())).toBe(REPLY_NANOS);
  });

  describe('in Messages', () => {
    const messages = [
      { role: 'user' as const, content: 'I want to see Oslo.' },
      { role: 'assistant' as const, content: 'Nordlys has rooms.' },
      { role: 'user' as const, content: 'And by train?' },
    ];
    const request = { model, max_tokens: 1000, messages };
    const edit = { type: 'compact_20260112' as const, trigger: { type: 'input_tokens' as const, value: 5 } };

    it('are summarized on request, and continued from the block', async () => {
      responses(upstream, summary, reply);
      const message = await anthropic()
        .beta.messages.stream({ ...request, betas: ['compact-2026-09-04'], compaction: { type: 'summarize' } })
        .finalMessage();
      expect([message.stop_reason, message.content]).toEqual([
        'compaction',
        [expect.objectContaining({ type: 'compaction', content: SUMMARY })],
      ]);
      await anthropic().beta.messages.create({
        ...request,
        messages: [...messages, message as Anthropic.Beta.BetaMessageParam, { role: 'user', content: 'Go on.' }],
      });
      expect([sent(1).includes(SUMMARY), sent(1).includes('rly1.'), sent(1).includes('Go on.')]).toEqual([
        true,
        false,
        true,
      ]);
    });

    it('are compacted first by an edit, with the pass beside the totals', async () => {
      responses(upstream, summary, reply);
      const message = await anthropic()
        .beta.messages.stream({ ...request, betas: ['compact-2026-01-12'], context_management: { edits: [edit] } })
        .finalMessage();
      expect(message.content.map(({ type }) => type)).toEqual(['compaction', 'text']);
      expect(message.usage.iterations).toMatchObject([
        { type: 'compaction', input_tokens: 1000, output_tokens: 200 },
        { type: 'message', input_tokens: 300, output_tokens: 50 },
      ]);
      expect(Number(await costOf())).toBe(SUMMARY_NANOS + REPLY_NANOS);
      await isExact();
    });

    it('pause after the compaction where the client wants it', async () => {
      responses(upstream, summary);
      const edits = [{ ...edit, pause_after_compaction: true }];
      const { stop_reason, content } = await anthropic().beta.messages.create({
        ...request,
        betas: ['compact-2026-01-12'],
        context_management: { edits },
      });
      expect([stop_reason, content.map(({ type }) => type), relay.upstream.requests.length]).toEqual([
        'compaction',
        ['compaction'],
        1,
      ]);
    });
  });
});

describe('compactions that do not end well', () => {
  const model = 'over-chat-completions';
  const body = {
    model,
    input: CONVERSATION,
    tools: TOOLS,
    stream: true,
    context_management: [{ type: 'compaction', compact_threshold: 10 }],
  };

  it('cost nothing when the reply fails', async () => {
    responses('chat-completions', summary);
    relay.upstream.script(errorResponse('chat-completions', 400));
    expect((await post('/v1/responses', body)).status).toBe(400);
    expect(await relay.onlyCall(caller)).toMatchObject({ status: 'failed', billing_basis: 'free' });
    expect(await relay.wallet(caller)).toMatchObject({ held: '0', holds: 0 });
    await isExact();
  });

  it('are charged when the client leaves before the reply', async () => {
    const opened = gate();
    responses('chat-completions', summary);
    relay.upstream.script([waitFor(opened)]);
    const aborting = new AbortController();
    const left = fetch(`${relay.url}/v1/responses`, {
      method: 'POST',
      headers: { authorization: `Bearer ${caller.key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
      signal: aborting.signal,
    }).catch(() => undefined);
    await relay.upstream.nextRequest();
    await relay.upstream.nextRequest();
    aborting.abort();
    await left;
    const row = await relay.onlyCall(caller);
    opened.open();
    expect(row).toMatchObject({ status: 'cancelled', billing_basis: 'partial' });
    expect(Number(row['cost'])).toBeGreaterThan(SUMMARY_NANOS);
    await isExact();
  });

  it('fail when the upstream writes no summary', async () => {
    responses('chat-completions', { text: '', toolCalls: [{ id: 'call_2', name: 'search', arguments: '{}' }] });
    const response = await post('/v1/responses/compact', { model, input: CONVERSATION });
    expect([response.status, await response.text()]).toEqual([502, expect.stringContaining('no summary')]);
    expect(await relay.onlyCall(caller)).toMatchObject({ status: 'failed', billing_basis: 'free' });
  });

  it.each([
    [{ stream: true }, 'stream'],
    [{ input: [{ type: 'compaction_trigger' }, { role: 'user', content: 'Hi' }] }, 'input[0]'],
    [{ input: undefined }, 'input'],
  ])('are refused by name: %j', async (change, param) => {
    const response = await post('/v1/responses/compact', { model, input: 'Hello', ...change });
    if (param === 'input[0]')
      return expect((await post('/v1/responses', { model, input: 'Hello', ...change })).status).toBe(400);
    expect([response.status, await response.json()]).toMatchObject([400, { error: { param } }]);
  });
});

describe('compactions of upstreams that compact themselves', () => {
  beforeAll(() => relay.applyCatalog(pairsCatalog(relay.upstream.url)));
  const native = {
    id: 'resp_1',
    object: 'response.compaction',
    created_at: 1,
    output: [{ type: 'compaction', id: 'cmp_1', encrypted_content: 'opaque' }],
    usage: { input_tokens: 1000, output_tokens: 200, total_tokens: 1200 },
  };

  it('are theirs, byte for byte', async () => {
    relay.upstream.scriptNext(jsonAnswer(200, { ...native, unknown: 1 }));
    const response = await post('/v1/responses/compact', { model: 'over-responses', input: CONVERSATION, unknown: 2 });
    expect(await response.json()).toEqual({ ...native, unknown: 1 });
    expect(relay.upstream.requests[0]).toMatchObject({ path: '/v1/responses/compact' });
    expect(relay.upstream.requests[0]!.json).toEqual({ model: 'vendor-responses', input: CONVERSATION, unknown: 2 });
    expect(Number(await costOf())).toBe(SUMMARY_NANOS);
  });

  it('cannot be read by other upstreams, which get the rest', async () => {
    responses('messages', reply);
    const response = await post('/v1/responses', {
      model: 'over-messages',
      input: [...native.output, { role: 'user', content: 'Go on.' }],
    });
    expect(response.headers.get('x-relay-warnings')).toBe('compaction_unreadable:input[0]');
    expect([sent(0).includes('opaque'), sent(0).includes('Go on.')]).toEqual([false, true]);
  });

  it('are not asked for a summary written here: they get its text', async () => {
    responses('chat-completions', summary);
    const { output: items } = (await (
      await post('/v1/responses/compact', { model: 'over-chat-completions', input: CONVERSATION })
    ).json()) as { output: JsonObject[] };
    responses('responses', reply);
    await (
      await post('/v1/responses', { model: 'over-responses', input: [...items, { role: 'user', content: 'Go on.' }] })
    ).text();
    const input = relay.upstream.requests[1]!.json['input'] as JsonObject[];
    expect(input[2]).toEqual({
      type: 'message',
      role: 'user',
      content: [{ type: 'input_text', text: expect.stringContaining(SUMMARY) as string }],
    });
  });
});
