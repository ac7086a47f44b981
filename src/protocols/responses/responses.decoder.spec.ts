import { aCall, aTarget, refusalOf } from '../../../test/support/calls.js';
import { aContent, built, decoded, resultOf } from '../../../test/support/translations.js';
import { renderSse, SseSplitter, type CallContent, type CallEvent, type CallResult } from '../../call/index.js';
import type { JsonObject } from '../../shared/index.js';
import { ResponsesProtocol } from './responses.protocol.js';
import { ResponsesUpstream } from './responses.upstream.js';

const upstream = new ResponsesUpstream();
const target = aTarget({ family: 'openai' });
const DONE = 'data: [DONE]\n\n';

type Event = JsonObject & { readonly type: string };

const stream = (...events: readonly Event[]): string =>
  events.map(({ type, ...members }) => renderSse(type, JSON.stringify({ type, ...members })).toString()).join('');
const read = (text: string, content: Partial<CallContent> = {}): CallEvent[] =>
  decoded(upstream.decodeStream(aContent(content), target), text);
const answer = (...events: readonly Event[]): CallResult => resultOf(read(stream(...events)));
const whole = (response: JsonObject): CallResult =>
  upstream.decodeResponse(JSON.stringify(response), aContent(), target);

const created: Event = { type: 'response.created', response: { id: 'resp_1', status: 'in_progress', output: [] } };
const completed = (response: JsonObject = {}): Event => ({
  type: 'response.completed',
  response: { id: 'resp_1', status: 'completed', output: [], ...response },
});
const added = (output_index: number, item: JsonObject): Event => ({
  type: 'response.output_item.added',
  output_index,
  item,
});
const done = (output_index: number, item: JsonObject): Event => ({
  type: 'response.output_item.done',
  output_index,
  item,
});
const message = (text: string): JsonObject => ({
  type: 'message',
  id: 'msg_a',
  role: 'assistant',
  content: [{ type: 'output_text', text, annotations: [] }],
});
const called = (id: string, text: unknown, overrides: JsonObject = {}): JsonObject => ({
  type: 'function_call',
  id: `fc_${id}`,
  call_id: id,
  name: 'get_weather',
  arguments: text,
  ...overrides,
});
const argument = (output_index: number, delta: string): Event => ({
  type: 'response.function_call_arguments.delta',
  output_index,
  item_id: 'fc',
  delta,
});
const said = (delta: string): Event => ({
  type: 'response.output_text.delta',
  output_index: 0,
  content_index: 0,
  item_id: 'msg_a',
  delta,
});
const usage = {
  input_tokens: 9,
  input_tokens_details: { cached_tokens: 4 },
  output_tokens: 7,
  output_tokens_details: { reasoning_tokens: 3 },
};

describe('the stream of a Responses upstream', () => {
  it('is told as it comes, usage before its end (case 31)', () => {
    const text = { type: 'output_text', text: 'Hello', annotations: [] };
    const place = { output_index: 0, content_index: 0, item_id: 'msg_a' };
    const events = read(
      stream(
        created,
        { type: 'response.in_progress', response: {} },
        added(0, { type: 'message', id: 'msg_a', content: [] }),
        { type: 'response.content_part.added', ...place, part: { ...text, text: '' } },
        said('Hel'),
        said('lo'),
        { type: 'response.output_text.done', ...place, text: 'Hello' },
        { type: 'response.content_part.done', ...place, part: text },
        done(0, message('Hello')),
        completed({ output: [message('Hello')], usage, service_tier: 'flex' }),
      ) + DONE,
    );
    expect(events).toEqual([
      { type: 'call-start' },
      { type: 'part-start', start: { kind: 'text' } },
      { type: 'part-delta', text: 'Hel' },
      { type: 'part-delta', text: 'lo' },
      { type: 'part-end', part: { kind: 'text', text: 'Hello' } },
      { type: 'call-stop', reason: 'end' },
      {
        type: 'usage-update',
        usage: {
          input: 9,
          cacheRead: 4,
          cacheWrite: 0,
          cacheWrite1h: 0,
          output: 7,
          reasoning: 3,
          serviceTier: 'flex',
          answerId: 'resp_1',
        },
      },
      { type: 'call-end' },
    ]);
  });

  it('has calls, one after the other even if they come interleaved (cases 45 and 46)', () => {
    const { parts, stop } = answer(
      created,
      added(0, called('a', '')),
      added(1, called('b', '')),
      argument(0, '{"city":'),
      argument(1, '{"n":1}'),
      argument(0, '"Oslo"}'),
      done(1, called('b', '{"n":1}')),
      done(0, called('a', '{"city":"Oslo"}')),
      completed(),
    );
    expect(parts).toEqual([
      { kind: 'tool-call', id: 'a', name: 'get_weather', arguments: '{"city":"Oslo"}' },
      { kind: 'tool-call', id: 'b', name: 'get_weather', arguments: '{"n":1}' },
    ]);
    expect(stop).toBe('tool_calls');
  });

  it.each([
    [[added(0, called('a', '')), done(0, called('a', '{"x":1}'))], '{"x":1}'],
    [[done(0, called('a', '{"x":1}'))], '{"x":1}'],
    [[added(0, called('a', '', { name: '' })), argument(0, '{"x"'), done(0, called('a', '{"x":1}'))], '{"x":1}'],
    [[added(0, called('a', '')), argument(0, '{"x":'), argument(0, '1}'), done(0, called('a', '{"x":1}'))], '{"x":1}'],
    [[done(0, called('a', { x: 1 }))], '{"x":1}'],
    [[done(0, called('a', ''))], '{}'],
    [[done(0, called('a', 'null'))], '{}'],
    [[added(0, called('a', '')), argument(0, '{}')], '{}'],
  ])('has the arguments of a call once, however they are told (cases 48, 49 and 51)', (events, expected) => {
    expect(answer(created, ...events, completed()).parts).toMatchObject([{ id: 'a', arguments: expected }]);
  });

  it('knows calls by the client’s names, and freeform ones (cases 62 and 63)', () => {
    const long = 'get.weather';
    const tools = [{ name: long, schema: undefined, path: 'tools[0]' }];
    const { body } = built(upstream, {
      call: aCall(new ResponsesProtocol(), { model: 'm', input: 'Hi' }),
      content: aContent({ tools }),
    });
    const [{ name }] = body['tools'] as [{ name: string }];
    const custom = { type: 'custom_tool_call', id: 'ctc_1', call_id: 'b', name: 'exec', input: 'ls' };
    const text = stream(
      created,
      done(0, called('a', '{}', { name })),
      done(1, called('c', '{}', { name: 'spawn', namespace: 'agents' })),
      added(2, { ...custom, input: '' }),
      { type: 'response.custom_tool_call_input.delta', output_index: 2, delta: 'l' },
      done(2, custom),
      completed(),
    );
    expect(resultOf(read(text, { tools })).parts).toEqual([
      { kind: 'tool-call', id: 'a', name: long, arguments: '{}' },
      { kind: 'tool-call', id: 'c', name: 'spawn', namespace: 'agents', arguments: '{}' },
      { kind: 'tool-call', id: 'b', name: 'exec', arguments: 'ls', isFreeform: true },
    ]);
  });

  it('has reasoning with what must come back of it (case 80)', () => {
    const summary = (type: string, summary_index: number, members: object): Event => ({
      type: `response.reasoning_summary_${type}`,
      output_index: 0,
      item_id: 'rs_1',
      summary_index,
      ...members,
    });
    const texts = ['Compare', ' both.', 'Decide.'];
    const item = {
      type: 'reasoning',
      id: 'rs_1',
      summary: [
        { type: 'summary_text', text: 'Compare both.' },
        { type: 'summary_text', text: 'Decide.' },
      ],
      encrypted_content: 'gAAA',
    };
    const { parts } = answer(
      created,
      added(0, { type: 'reasoning', id: 'rs_1', summary: [] }),
      summary('part.added', 0, { part: { type: 'summary_text', text: '' } }),
      summary('text.delta', 0, { delta: texts[0] }),
      summary('text.delta', 0, { delta: texts[1] }),
      summary('text.delta', 1, { delta: texts[2] }),
      done(0, item),
      done(1, message('42')),
      completed(),
    );
    const opaque = { kind: 'encrypted', family: 'openai', data: 'gAAA', text: '', id: 'rs_1' };
    expect(parts).toEqual([
      { kind: 'reasoning', text: 'Compare both.\n\nDecide.', opaque },
      { kind: 'text', text: '42' },
    ]);
    expect(whole({ output: [item, message('42')] }).parts).toEqual(parts);
  });

  it('has no reasoning where there is nothing of it', () => {
    expect(answer(created, done(0, { type: 'reasoning', id: 'rs_1', summary: [] }), completed()).parts).toEqual([]);
  });

  it('has refusals, and says that it ends with one (case 42)', () => {
    const refusal = { type: 'refusal', refusal: 'I cannot.' };
    const item = { type: 'message', id: 'msg_a', content: [refusal] };
    const delta = { type: 'response.refusal.delta', output_index: 0, content_index: 0, delta: 'I can' };
    const { parts, stop } = answer(created, delta, done(0, item), completed());
    expect([parts, stop]).toEqual([[{ kind: 'refusal', text: 'I cannot.' }], 'refusal']);
  });

  it('has the places that a text names', () => {
    const annotations = [
      { type: 'url_citation', url: 'https://example.com', title: 'Example', start_index: 1, end_index: 2 },
      { type: 'file_citation', file_id: 'file_1' },
    ];
    const text = { type: 'output_text', text: 'So.', annotations };
    const item = { type: 'message', id: 'msg_a', content: [text] };
    const part = { type: 'response.content_part.done', output_index: 0, content_index: 0, part: text };
    expect(answer(created, said('So'), part, done(0, item), completed()).parts).toEqual([
      { kind: 'text', text: 'So.', annotations: [{ url: 'https://example.com', title: 'Example' }] },
    ]);
  });

  it.each([
    [{ status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } }, 'max_tokens'],
    [{ status: 'incomplete', incomplete_details: { reason: 'content_filter' } }, 'content_filter'],
    [{ status: 'incomplete', incomplete_details: { reason: 'steered' } }, 'end'],
    [{ incomplete_details: null }, 'end'],
  ])('that ends as %j stops with %s (cases 33, 41 and 44)', (response, stop) => {
    const end = { ...completed(response), type: 'response.incomplete' };
    expect(answer(created, said('Hi'), end)).toMatchObject({ parts: [{ text: 'Hi' }], stop });
  });

  it('that is cut within a call gives what there is of it (case 53)', () => {
    const end = { ...completed({ incomplete_details: { reason: 'max_output_tokens' } }), type: 'response.incomplete' };
    const { parts, stop } = answer(created, added(0, called('a', '')), argument(0, '{"city":"Os'), end);
    expect([parts, stop]).toMatchObject([[{ arguments: '{"city":"Os' }], 'max_tokens']);
  });

  it('may say everything at its very end', () => {
    const output = [message('Hello'), called('a', '{}')];
    expect(answer(completed({ output, usage }))).toMatchObject({
      parts: [{ text: 'Hello' }, { id: 'a' }],
      stop: 'tool_calls',
      usage: { input: 9 },
    });
  });

  it('counts what the upstream ran, and skips all that it tells of it', () => {
    const search = { type: 'web_search_call', id: 'ws_1', status: 'completed' };
    const progress = { type: 'response.web_search_call.searching', output_index: 0, item_id: 'ws_1' };
    const { parts, usage: used } = answer(
      created,
      added(0, search),
      progress,
      done(0, search),
      completed({ output: undefined, usage }),
    );
    expect([parts, used?.toolUses]).toEqual([[], { web_search: 1 }]);
  });

  it('may be llama-server’s, whose events have no numbers and whose items are over only at the end', () => {
    const call = { type: 'function_call', call_id: 'fc_1', name: 'get_weather' };
    const thought = { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: '' };
    const events = read(
      stream(
        { type: 'response.created', response: { id: 'resp_1', object: 'response', status: 'in_progress' } },
        { type: 'response.output_item.added', item: { ...thought, content: [] } },
        { type: 'response.reasoning_text.delta', item_id: 'rs_1', delta: 'Hm.' },
        { type: 'response.output_item.added', item: { type: 'message', id: 'msg_1', content: [] } },
        { type: 'response.content_part.added', item_id: 'msg_1', part: { type: 'output_text', text: '' } },
        { type: 'response.output_text.delta', item_id: 'msg_1', delta: 'See.' },
        { type: 'response.output_item.added', item: { ...call, arguments: '' } },
        { type: 'response.function_call_arguments.delta', item_id: 'fc_1', delta: '{"city":"Oslo"}' },
        { type: 'response.output_item.done', item: { ...thought, content: [{ type: 'reasoning_text', text: 'Hm.' }] } },
        { type: 'response.output_text.done', item_id: 'msg_1', text: 'See.' },
        { type: 'response.content_part.done', item_id: 'msg_1', part: { type: 'output_text', text: 'See.' } },
        { type: 'response.output_item.done', item: { ...message('See.'), id: 'msg_1' } },
        { type: 'response.output_item.done', item: { ...call, arguments: '{"city":"Oslo"}' } },
        completed({ output: [thought, { ...message('See.'), id: 'msg_1' }, { ...call, arguments: '{}' }] }),
      ),
    );
    expect(resultOf(events)).toMatchObject({
      parts: [
        { kind: 'reasoning', text: 'Hm.' },
        { kind: 'text', text: 'See.' },
        { kind: 'tool-call', id: 'fc_1', arguments: '{"city":"Oslo"}' },
      ],
      stop: 'tool_calls',
    });
  });

  it('is told at once where items have no numbers: each ends the one before', () => {
    const decoder = upstream.decodeStream(aContent(), target);
    const told = (event: Event): unknown[] => {
      const events = new SseSplitter().next(Buffer.from(stream(event))).flatMap((sent) => decoder.next(sent));
      return events.map((each) => (each.type === 'part-delta' ? each.text : each.type));
    };
    told(created);
    const item = { type: 'function_call', call_id: 'fc_1', name: 'f', arguments: '' };
    expect([
      told({ type: 'response.reasoning_text.delta', item_id: 'rs_1', delta: 'Hm.' }),
      told({ type: 'response.output_text.delta', item_id: 'msg_1', delta: 'See.' }),
      told({ type: 'response.output_item.added', item }),
      told({ type: 'response.function_call_arguments.delta', item_id: 'fc_1', delta: '{"x"' }),
    ]).toEqual([['part-start', 'Hm.'], ['part-end', 'part-start', 'See.'], ['part-end', 'part-start'], ['{"x"']]);
  });

  it('has the reasoning of servers that show all of it', () => {
    const item = { type: 'reasoning', id: 'rs_1', summary: [], content: [{ type: 'reasoning_text', text: 'Hm.' }] };
    expect(answer(created, done(0, item), completed()).parts).toEqual([{ kind: 'reasoning', text: 'Hm.' }]);
  });

  it('is over when it says so (case 18)', () => {
    expect(read(stream(created, completed(), said('More'), completed()) + DONE + DONE)).toHaveLength(3);
  });

  it('may change the ids of its items with each event, as long as it numbers them', () => {
    const { parts } = answer(
      created,
      added(0, { type: 'message', id: 'x' }),
      { ...said('Hi'), item_id: 'y' },
      done(0, { ...message('Hi'), id: 'z' }),
      completed(),
    );
    expect(parts).toEqual([{ kind: 'text', text: 'Hi' }]);
  });

  it.each([
    ['only its deltas are not', [true, false, true]],
    ['only its beginning is not', [false, true, true]],
    ['only its end is', [false, false, true]],
    ['only its end is not', [true, true, false]],
  ])('says nothing twice where not every event of an item is numbered: %s', (_, [first, deltas, last]) => {
    const numbered = (is: boolean | undefined, output_index: number): object => (is === true ? { output_index } : {});
    const events = ['m', 'n'].flatMap((id, index): Event[] => {
      const item = { ...message(`Hi ${id}`), id };
      const delta = { type: 'response.output_text.delta', item_id: id, content_index: 0, delta: `Hi ${id}` };
      return [
        { type: 'response.output_item.added', ...numbered(first, index), item: { ...item, content: [] } },
        { ...delta, ...numbered(deltas, index) },
        { type: 'response.output_item.done', ...numbered(last, index), item },
      ];
    });
    expect(answer(created, ...events, completed()).parts).toEqual([
      { kind: 'text', text: 'Hi m' },
      { kind: 'text', text: 'Hi n' },
    ]);
  });

  it('that breaks off is cut short, whatever came of it (case 40)', () => {
    expect(refusalOf(() => read(stream(created, said('Hi'), done(0, message('Hi')))))).toMatchObject({
      kind: 'upstream_truncated',
      details: { failover: true },
    });
    expect(refusalOf(() => read(stream(created) + DONE)).kind).toBe('upstream_truncated');
  });

  it.each<[Event, string, string]>([
    [{ type: 'error', code: 'rate_limit_exceeded', message: 'Slow down.' }, 'rate_limit_exceeded', 'rate limit'],
    [
      { type: 'response.failed', response: { error: { code: 'server_error', message: 'Boom' } } },
      'upstream_error',
      'Boom',
    ],
    [{ type: 'response.failed', response: { error: null } }, 'upstream_error', 'failed'],
    [{ type: 'oops', error: { message: 'Busy' } }, 'upstream_error', 'Busy'],
  ])('is an error where it says so: %j (case 22)', (event, kind, words) => {
    const error = refusalOf(() => read(stream(created, event)));
    expect(error.kind).toBe(kind);
    expect(error.message).toContain(words);
  });

  it.each([['data: <html>\n\n'], ['data: {"type":\n\n']])('is an error where %j is no event (case 19)', (text) => {
    expect(refusalOf(() => read(stream(created) + text)).kind).toBe('upstream_error');
  });
});

describe('a whole answer of a Responses upstream', () => {
  it('is read like the end of a stream', () => {
    const output = [message('Hello'), called('a', '')];
    expect(whole({ id: 'resp_1', status: 'completed', error: null, output, usage })).toMatchObject({
      parts: [
        { kind: 'text', text: 'Hello' },
        { kind: 'tool-call', id: 'a', arguments: '{}' },
      ],
      stop: 'tool_calls',
      usage: { input: 9, output: 7, answerId: 'resp_1' },
    });
  });

  it('may lack everything but its status', () => {
    expect(whole({ status: 'completed' })).toEqual({ parts: [], stop: 'end', sequence: undefined, usage: undefined });
  });

  it.each([
    ['{"status":"failed","error":{"code":"server_error","message":"Boom"}}', 'Boom'],
    ['{"status":"failed","error":null}', 'failed'],
    ['{"error":{"message":"Busy"}}', 'Busy'],
    ['{}', 'another dialect'],
    ['{"object":"chat.completion","choices":[]}', 'another dialect'],
    ['[]', 'no JSON object'],
    ['<html>', 'no JSON object'],
  ])('that is %s is an error (case 22)', (body, words) => {
    expect(refusalOf(() => upstream.decodeResponse(body, aContent(), target)).message).toContain(words);
  });
});
