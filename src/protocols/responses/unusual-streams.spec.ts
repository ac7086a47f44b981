import { refusalOf } from '../../../test/support/calls.js';
import { added, called, completed, created, done, message, said, usage } from '../../../test/support/responses-sse.js';
import {
  resultOfStream,
  DONE,
  type Event,
  read,
  stream,
  target,
  upstream,
} from '../../../test/support/responses-streams.js';
import { aContent, resultOf } from '../../../test/support/translations.js';
import { SseSplitter } from '../contract/index.js';

describe('unusual Responses streams', () => {
  it('may contain everything in the final event', () => {
    const output = [message('Hello'), called('a', '{}')];
    expect(resultOfStream(completed({ output, usage }))).toMatchObject({
      parts: [{ text: 'Hello' }, { id: 'a' }],
      stop: 'tool_calls',
      usage: { input: 9 },
    });
  });

  it('may lack indexes and finish items only at the end, like llama-server', () => {
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

  it('are emitted immediately without indexes: each item ends the previous one', () => {
    const decoder = upstream.decodeStream(aContent(), target);
    const emitted = (event: Event): unknown[] => {
      const events = new SseSplitter().next(Buffer.from(stream(event))).flatMap((sent) => decoder.next(sent));
      return events.map((each) => (each.type === 'part-delta' ? each.text : each.type));
    };
    emitted(created);
    const item = { type: 'function_call', call_id: 'fc_1', name: 'f', arguments: '' };
    expect([
      emitted({ type: 'response.reasoning_text.delta', item_id: 'rs_1', delta: 'Hm.' }),
      emitted({ type: 'response.output_text.delta', item_id: 'msg_1', delta: 'See.' }),
      emitted({ type: 'response.output_item.added', item }),
      emitted({ type: 'response.function_call_arguments.delta', item_id: 'fc_1', delta: '{"x"' }),
    ]).toEqual([['part-start', 'Hm.'], ['part-end', 'part-start', 'See.'], ['part-end', 'part-start'], ['{"x"']]);
  });

  it('may contain readable reasoning', () => {
    const item = { type: 'reasoning', id: 'rs_1', summary: [], content: [{ type: 'reasoning_text', text: 'Hm.' }] };
    expect(resultOfStream(created, done(0, item), completed()).parts).toEqual([{ kind: 'reasoning', text: 'Hm.' }]);
  });

  it('end with the final event (case 18)', () => {
    expect(read(stream(created, completed(), said('More'), completed()) + DONE + DONE)).toHaveLength(3);
  });

  it('may change item IDs if items are numbered', () => {
    const { parts } = resultOfStream(
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
  ])('are not repeated if only some events are numbered: %s', (_, [first, deltas, last]) => {
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
    expect(resultOfStream(created, ...events, completed()).parts).toEqual([
      { kind: 'text', text: 'Hi m' },
      { kind: 'text', text: 'Hi n' },
    ]);
  });

  it('are truncated when they break off (case 40)', () => {
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
  ])('throw on errors: %j (case 22)', (event, kind, words) => {
    const error = refusalOf(() => read(stream(created, event)));
    expect(error.kind).toBe(kind);
    expect(error.message).toContain(words);
  });

  it.each([['data: <html>\n\n'], ['data: {"type":\n\n']])('throw on %j, which is not an event (case 19)', (text) => {
    expect(refusalOf(() => read(stream(created) + text)).kind).toBe('upstream_error');
  });
});
