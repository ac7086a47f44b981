import { aCall, refusalOf } from '../../../test/support/calls.js';
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
import { aContent, built, resultOf } from '../../../test/support/translations.js';
import type { JsonObject } from '../../platform/shared/index.js';
import type { CallResult } from '../contract/index.js';
import { ResponsesProtocol } from './protocol.js';

const whole = (response: JsonObject): CallResult =>
  upstream.decodeResponse(JSON.stringify(response), aContent(), target);

const argument = (output_index: number, delta: string): Event => ({
  type: 'response.function_call_arguments.delta',
  output_index,
  item_id: 'fc',
  delta,
});

describe('Responses stream decoding', () => {
  it('emits events as they arrive, usage before the end (case 31)', () => {
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
          responseId: 'resp_1',
        },
      },
      { type: 'call-end' },
    ]);
  });

  it('emits interleaved calls one after the other (cases 45 and 46)', () => {
    const { parts, stop } = resultOfStream(
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
  ])('reads arguments once, however they are sent (cases 48, 49 and 51)', (events, expected) => {
    expect(resultOfStream(created, ...events, completed()).parts).toMatchObject([{ id: 'a', arguments: expected }]);
  });

  it('restores tool names and freeform tools (cases 62 and 63)', () => {
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

  it('keeps encrypted reasoning (case 80)', () => {
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
    const { parts } = resultOfStream(
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

  it('drops empty reasoning', () => {
    expect(resultOfStream(created, done(0, { type: 'reasoning', id: 'rs_1', summary: [] }), completed()).parts).toEqual(
      [],
    );
  });

  it('reads refusals and stops with one (case 42)', () => {
    const refusal = { type: 'refusal', refusal: 'I cannot.' };
    const item = { type: 'message', id: 'msg_a', content: [refusal] };
    const delta = { type: 'response.refusal.delta', output_index: 0, content_index: 0, delta: 'I can' };
    const { parts, stop } = resultOfStream(created, delta, done(0, item), completed());
    expect([parts, stop]).toEqual([[{ kind: 'refusal', text: 'I cannot.' }], 'refusal']);
  });

  it('reads citations', () => {
    const annotations = [
      { type: 'url_citation', url: 'https://example.com', title: 'Example', start_index: 1, end_index: 2 },
      { type: 'file_citation', file_id: 'file_1' },
    ];
    const text = { type: 'output_text', text: 'So.', annotations };
    const item = { type: 'message', id: 'msg_a', content: [text] };
    const part = { type: 'response.content_part.done', output_index: 0, content_index: 0, part: text };
    expect(resultOfStream(created, said('So'), part, done(0, item), completed()).parts).toEqual([
      { kind: 'text', text: 'So.', annotations: [{ url: 'https://example.com', title: 'Example' }] },
    ]);
  });

  it.each([
    [{ status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } }, 'max_tokens'],
    [{ status: 'incomplete', incomplete_details: { reason: 'content_filter' } }, 'content_filter'],
    [{ status: 'incomplete', incomplete_details: { reason: 'steered' } }, 'end'],
    [{ incomplete_details: null }, 'end'],
  ])('maps the end %j to %s (cases 33, 41 and 44)', (members, stop) => {
    const end = { ...completed(members), type: 'response.incomplete' };
    expect(resultOfStream(created, said('Hi'), end)).toMatchObject({ parts: [{ text: 'Hi' }], stop });
  });

  it('keeps a call truncated by the end (case 53)', () => {
    const end = { ...completed({ incomplete_details: { reason: 'max_output_tokens' } }), type: 'response.incomplete' };
    const { parts, stop } = resultOfStream(created, added(0, called('a', '')), argument(0, '{"city":"Os'), end);
    expect([parts, stop]).toMatchObject([[{ arguments: '{"city":"Os' }], 'max_tokens']);
  });

  it('counts hosted tools and skips their events', () => {
    const search = { type: 'web_search_call', id: 'ws_1', status: 'completed' };
    const progress = { type: 'response.web_search_call.searching', output_index: 0, item_id: 'ws_1' };
    const { parts, usage: used } = resultOfStream(
      created,
      added(0, search),
      progress,
      done(0, search),
      completed({ output: undefined, usage }),
    );
    expect([parts, used?.toolUses]).toEqual([[], { web_search: 1 }]);
  });
});

describe('unstreamed Responses decoding', () => {
  it('equals the end of a stream', () => {
    const output = [message('Hello'), called('a', '')];
    expect(whole({ id: 'resp_1', status: 'completed', error: null, output, usage })).toMatchObject({
      parts: [
        { kind: 'text', text: 'Hello' },
        { kind: 'tool-call', id: 'a', arguments: '{}' },
      ],
      stop: 'tool_calls',
      usage: { input: 9, output: 7, responseId: 'resp_1' },
    });
  });

  it('accepts a response with a status only', () => {
    expect(whole({ status: 'completed' })).toEqual({ parts: [], stop: 'end', sequence: undefined, usage: undefined });
  });

  it.each([
    ['{"status":"failed","error":{"code":"server_error","message":"Boom"}}', 'Boom'],
    ['{"status":"failed","error":null}', 'failed'],
    ['{"error":{"message":"Busy"}}', 'Busy'],
    ['{}', 'another protocol'],
    ['{"object":"chat.completion","choices":[]}', 'another protocol'],
    ['[]', 'not a JSON object'],
    ['<html>', 'not a JSON object'],
  ])('throws on %s (case 22)', (body, words) => {
    expect(refusalOf(() => upstream.decodeResponse(body, aContent(), target)).message).toContain(words);
  });
});
