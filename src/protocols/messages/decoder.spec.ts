import { messagesBody, messagesEvents } from '../../../test/conformance/protocols/messages/answers.js';
import { aTarget, refusalOf } from '../../../test/support/calls.js';
import { aContent, checked, decoded, resultOf } from '../../../test/support/translations.js';
import {
  type CallContent,
  type CallEvent,
  type CallResult,
  eventsOf,
  NO_TOKENS,
  RawJson,
  renderSse,
  type Tool,
  ToolNames,
} from '../contract/index.js';
import { TOOL_NAMES } from './flags.js';
import { MessagesUpstream } from './upstream.js';

const upstream = new MessagesUpstream();
const NONE = { ...NO_TOKENS, serviceTier: 'standard' };

interface Data {
  readonly type: string;
  readonly [name: string]: unknown;
}

const event = (data: Data): string => renderSse(data.type, JSON.stringify(data)).toString();
const START = event({ type: 'message_start', message: { usage: { input_tokens: 9, output_tokens: 1 } } });
const open = (block: object, index = 0): string => event({ type: 'content_block_start', index, content_block: block });
const delta = (content: object, index = 0): string => event({ type: 'content_block_delta', index, delta: content });
const close = (index = 0): string => event({ type: 'content_block_stop', index });
const end = (stop: object, usage: object = { output_tokens: 2 }): string =>
  event({ type: 'message_delta', delta: stop, usage });
const STOP = event({ type: 'message_stop' });

interface Setting {
  readonly content?: Partial<CallContent>;
  readonly flags?: Readonly<Record<string, unknown>>;
}

const eventsIn = (stream: string, { content, flags = {} }: Setting = {}): CallEvent[] =>
  decoded(upstream.decodeStream(aContent(content), aTarget({ flags })), stream);
const response = (blocks: string, stop: object = { stop_reason: 'end_turn' }, setting?: Setting): CallResult =>
  resultOf(eventsIn(START + blocks + end(stop) + STOP, setting));

/** The unstreamed response, checked as events. */
function whole(body: object | string, { content, flags = {} }: Setting = {}): CallResult {
  const json = typeof body === 'string' ? body : JSON.stringify(body);
  const result = upstream.decodeResponse(json, aContent(content), aTarget({ flags }));
  checked([...eventsOf(result)]);
  return result;
}

const call = (json: readonly string[], name = 'get', id = 'toolu_1'): string =>
  open({ type: 'tool_use', id, name, input: {} }) +
  json.map((partial_json) => delta({ type: 'input_json_delta', partial_json })).join('') +
  close();
const FREEFORM: Tool = { name: 'exec', schema: undefined, freeform: {}, path: 'tools[0]' };

describe('Messages stream decoding', () => {
  it('emits events and usage as they arrive (cases 31 and 90)', () => {
    const stream =
      START +
      event({ type: 'ping' }) +
      open({ type: 'text', text: '' }) +
      delta({ type: 'text_delta', text: 'Hel' }) +
      delta({ type: 'text_delta', text: 'lo' }) +
      close() +
      end({ stop_reason: 'end_turn' }, { input_tokens: 9, cache_read_input_tokens: 4, output_tokens: 2 }) +
      STOP;
    expect(eventsIn(stream)).toEqual([
      { type: 'call-start' },
      { type: 'usage-update', usage: { ...NONE, input: 9, output: 1 }, isProvisional: true },
      { type: 'part-start', start: { kind: 'text' } },
      { type: 'part-delta', text: 'Hel' },
      { type: 'part-delta', text: 'lo' },
      { type: 'part-end', part: { kind: 'text', text: 'Hello' } },
      { type: 'usage-update', usage: { ...NONE, input: 13, cacheRead: 4, output: 2 } },
      { type: 'call-stop', reason: 'end' },
      { type: 'call-end' },
    ]);
  });

  it('equals the unstreamed response (cases 20 and 21)', () => {
    const options = {
      reasoning: ['Let me ', 'see.'],
      text: ['Hé ', '😀'],
      toolCalls: [
        { id: 'toolu_1', name: 'get', arguments: ['{"a":', '1.0}'] },
        { id: 'toolu_2', name: 'get', arguments: ['{}'] },
      ],
    };
    const stream = messagesEvents(options)
      .map(({ data }) => event(data as Data))
      .join('');
    expect(whole(messagesBody(options)).parts).toEqual([
      ...resultOf(eventsIn(stream)).parts.slice(0, 2),
      { kind: 'tool-call', id: 'toolu_1', name: 'get', arguments: '{"a":1}' },
      { kind: 'tool-call', id: 'toolu_2', name: 'get', arguments: '{}' },
    ]);
    expect(whole(messagesBody(options))).toMatchObject({
      stop: 'tool_calls',
      usage: { input: expect.any(Number) as number },
    });
  });

  it.each([
    ['end_turn', 'end'],
    ['max_tokens', 'max_tokens'],
    ['pause_turn', 'pause'],
    ['model_context_window_exceeded', 'context'],
    ['refusal', 'content_filter'],
    ['tool_use', 'end'],
    ['hologram', 'end'],
  ])('maps %s to %s (cases 33, 42, 43 and 44)', (stop_reason, stop) => {
    expect(response('', { stop_reason })).toMatchObject({ parts: [], stop });
    expect(whole({ content: [], stop_reason }).stop).toBe(stop);
  });

  it('reports the stop sequence (case 34)', () => {
    const stop = { stop_reason: 'stop_sequence', stop_sequence: 'END' };
    expect(response('', stop)).toMatchObject({ stop: 'stop_sequence', sequence: 'END' });
    expect(whole({ content: [], ...stop })).toMatchObject({ stop: 'stop_sequence', sequence: 'END' });
  });

  it('stops with calls if there are any, unless truncated (cases 52 and 53)', () => {
    expect(response(call(['{"a":1}'])).stop).toBe('tool_calls');
    const cut = response(call(['{"a":', '"b']), { stop_reason: 'max_tokens' });
    expect(cut).toMatchObject({ parts: [{ arguments: '{"a":"b' }], stop: 'max_tokens' });
    expect(response(call(['{']), { stop_reason: 'max_tokens' }).parts).toMatchObject([{ arguments: '{' }]);
  });

  it("reports the refusal's explanation (case 42)", () => {
    const stop = {
      stop_reason: 'refusal',
      stop_details: { type: 'refusal', category: 'x', explanation: 'I may not.' },
    };
    const expected = { parts: [{ kind: 'refusal', text: 'I may not.' }], stop: 'refusal' };
    expect(response('', stop)).toMatchObject(expected);
    expect(whole({ content: [], ...stop })).toMatchObject(expected);
  });

  it.each([[[]], [['']], [['{}']], [['null']], [[' ', '{', '}']]])(
    'emits calls without arguments: %j (case 48)',
    (json) => {
      expect(response(call(json)).parts).toMatchObject([{ arguments: expect.stringMatching(/^\s*\{\}$/) as unknown }]);
    },
  );

  it('accepts complete arguments as object or text (case 49)', () => {
    const started = (input: unknown, ...json: readonly string[]): string =>
      open({ type: 'tool_use', id: 'a', name: 'get', input }) +
      json.map((partial_json) => delta({ type: 'input_json_delta', partial_json })).join('') +
      close();
    expect(response(started({ a: 1 })).parts).toMatchObject([{ arguments: '{"a":1}' }]);
    expect(response(started({ a: 1 }, '{"a":1}')).parts).toMatchObject([{ arguments: '{"a":1}' }]);
    expect(response(started('{"a":1}')).parts).toMatchObject([{ arguments: '{"a":1}' }]);
    expect(response(started(undefined)).parts).toMatchObject([{ arguments: '{}' }]);
  });

  it('keeps arguments as text, with numbers of any size (case 54)', () => {
    const json = '{"n": 9007199254740993,"s":"\\u2028"}';
    expect(response(call([json])).parts).toMatchObject([{ arguments: json }]);
    const body = `{"content":[{"type":"tool_use","id":"a","name":"get","input":${json}}],"stop_reason":"tool_use"}`;
    expect(whole(body).parts).toMatchObject([{ arguments: json }]);
  });

  it('separates several calls with unique IDs (case 46)', () => {
    const { parts } = response(call(['{}'], 'get', 'a') + call(['{}'], 'get', 'a') + call(['{}'], 'get', ''));
    expect(parts.map((part) => part.kind === 'tool-call' && part.id)).toEqual(['a', 'a_2', 'call_3']);
  });

  it('restores tool names and unwraps freeform input (cases 61, 62 and 63)', () => {
    const content = { tools: [FREEFORM, { name: 'a.b', namespace: 'ns', schema: undefined, path: 'tools[1]' }] };
    const events = eventsIn(START + call(['{"inp', 'ut":"*** x"}'], 'exec') + end({ stop_reason: 'tool_use' }) + STOP, {
      content,
    });
    expect(events.filter(({ type }) => type.startsWith('part'))).toEqual([
      { type: 'part-start', start: { kind: 'tool-call', id: 'toolu_1', name: 'exec', isFreeform: true } },
      { type: 'part-delta', text: '*** x' },
      {
        type: 'part-end',
        part: { kind: 'tool-call', id: 'toolu_1', name: 'exec', isFreeform: true, arguments: '*** x' },
      },
    ]);
    expect(response(call(['raw'], 'exec'), undefined, { content }).parts).toMatchObject([{ arguments: 'raw' }]);
    expect(
      whole(
        { content: [{ type: 'tool_use', id: 'a', name: 'exec', input: { input: 'x' } }], stop_reason: 'tool_use' },
        { content },
      ).parts,
    ).toMatchObject([{ arguments: 'x' }]);
    const wire = new ToolNames(content.tools, TOOL_NAMES).wireName('a.b', 'ns');
    expect(response(call(['{}'], wire), undefined, { content }).parts).toMatchObject([
      { name: 'a.b', namespace: 'ns' },
    ]);
  });

  it('keeps reasoning with its signature, shown or not (cases 79, 81 and 82)', () => {
    const blocks =
      open({ type: 'thinking', thinking: '', signature: '' }) +
      delta({ type: 'thinking_delta', thinking: 'Let me ' }) +
      delta({ type: 'thinking_delta', thinking: 'see.' }) +
      delta({ type: 'signature_delta', signature: 'EqQB+/=' }) +
      close() +
      open({ type: 'thinking', thinking: '', signature: '' }) +
      delta({ type: 'signature_delta', signature: 'Eq' }) +
      close() +
      open({ type: 'redacted_thinking', data: 'red' }) +
      close();
    const seal = (kind: string, data: string, words: string): object => ({ kind, family: 'f', data, text: words });
    const expected = [
      { kind: 'reasoning', text: 'Let me see.', opaque: seal('signature', 'EqQB+/=', 'Let me see.') },
      { kind: 'reasoning', text: '', opaque: seal('signature', 'Eq', '') },
      { kind: 'reasoning', text: '', opaque: seal('redacted', 'red', '') },
    ];
    expect(response(blocks).parts).toEqual(expected);
    const content = [
      { type: 'thinking', thinking: 'Let me see.', signature: 'EqQB+/=' },
      { type: 'thinking', thinking: '', signature: 'Eq' },
      { type: 'redacted_thinking', data: 'red' },
    ];
    expect(whole({ content, stop_reason: 'end_turn' }).parts).toEqual(expected);
  });

  it('reports citations of a search without the search itself', () => {
    const citation = {
      type: 'web_search_result_location',
      url: 'https://e.example',
      title: 'E',
      cited_text: 'x',
      encrypted_index: 'y',
    };
    const blocks =
      open({ type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: {} }) +
      delta({ type: 'input_json_delta', partial_json: '{"query":"x"}' }) +
      close() +
      open({ type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', content: [] }, 1) +
      close(1) +
      open({ type: 'text', text: '', citations: [] }, 2) +
      delta({ type: 'text_delta', text: 'Found.' }, 2) +
      delta({ type: 'citations_delta', citation }, 2) +
      delta({ type: 'citations_delta', citation: { type: 'char_location', document_title: 'D' } }, 2) +
      close(2);
    const expected = [{ kind: 'text', text: 'Found.', annotations: [{ url: 'https://e.example', title: 'E' }] }];
    expect(response(blocks).parts).toEqual(expected);
    expect(response(blocks).stop).toBe('end');
    expect(
      whole({ content: [{ type: 'text', text: 'Found.', citations: [citation] }], stop_reason: 'end_turn' }).parts,
    ).toEqual(expected);
  });

  it('skips unknown events, and everything after the end (case 18)', () => {
    const unknown =
      event({ type: 'hologram' }) + open({ type: 'hologram' }) + delta({ type: 'hologram_delta' }) + close();
    const stream =
      START + unknown + end({ stop_reason: 'end_turn' }) + STOP + 'data: [DONE]\n\n' + STOP + 'data: nonsense\n\n';
    expect(resultOf(eventsIn(stream)).parts).toEqual([]);
  });

  it('accepts unnamed events and missing block ends', () => {
    const stream = START + open({ type: 'text', text: 'Hi' }) + end({ stop_reason: 'end_turn' }) + STOP;
    expect(resultOf(eventsIn(stream.replaceAll(/event: .*\n/g, ''))).parts).toEqual([{ kind: 'text', text: 'Hi' }]);
  });

  it.each([
    ['nothing at all', '', 'upstream_truncated'],
    ['a block, and no more', START + open({ type: 'text', text: '' }) + close(), 'upstream_truncated'],
    ['no message_stop', START + end({ stop_reason: 'end_turn' }), 'upstream_truncated'],
    ['an error', START + event({ type: 'error', error: { type: 'overloaded_error' } }), 'server_is_overloaded'],
    ['another protocol’s error', 'data: {"error":{"message":"x"}}\n\n', 'upstream_error'],
    ['no JSON', `${START}data: nonsense\n\n`, 'upstream_error'],
    ['half a block', `${START}event: content_block_start\ndata: {"type":"content_block_start",\n\n`, 'upstream_error'],
  ])('fails on an abnormal end with %s (cases 19, 22 and 40)', (_, stream, kind) => {
    expect(refusalOf(() => eventsIn(stream)).kind).toBe(kind);
  });

  it.each([
    ['{"type":"error","error":{"type":"overloaded_error","message":"x"}}', 'server_is_overloaded'],
    ['<html>', 'upstream_error'],
    ['[]', 'upstream_error'],
    ['{"id":"chatcmpl-1","choices":[]}', 'upstream_error'],
  ])('rejects other forms of unstreamed responses: %s (case 22)', (body, kind) => {
    expect(refusalOf(() => whole(body)).kind).toBe(kind);
  });
});

describe('structured output by tool', () => {
  const schema = new RawJson('{"type":"object","properties":{"a":{}}}');
  const setting: Setting = { content: { format: { kind: 'schema', schema } }, flags: { structuredOutput: false } };

  it('is decoded as text', () => {
    const stream = START + call(['{"a":', '1}'], 'respond') + end({ stop_reason: 'tool_use' }) + STOP;
    expect(eventsIn(stream, setting).filter(({ type }) => type !== 'usage-update')).toEqual([
      { type: 'call-start' },
      { type: 'part-start', start: { kind: 'text' } },
      { type: 'part-delta', text: '{"a":' },
      { type: 'part-delta', text: '1}' },
      { type: 'part-end', part: { kind: 'text', text: '{"a":1}' } },
      { type: 'call-stop', reason: 'end' },
      { type: 'call-end' },
    ]);
    const content = [{ type: 'tool_use', id: 'a', name: 'respond', input: { a: 1 } }];
    expect(whole({ content, stop_reason: 'tool_use' }, setting)).toMatchObject({
      parts: [{ kind: 'text', text: '{"a":1}' }],
      stop: 'end',
    });
  });

  it('stays a call if the client has tools', () => {
    const tools = [{ name: 'respond', schema, path: 'tools[0]' }];
    const stream = START + call(['{}'], 'respond') + end({ stop_reason: 'tool_use' }) + STOP;
    const own = { ...setting, content: { ...setting.content, tools } };
    expect(resultOf(eventsIn(stream, own))).toMatchObject({ parts: [{ kind: 'tool-call' }], stop: 'tool_calls' });
  });
});

describe('malformed Messages streams', () => {
  it('ignore calls without a name and signatures without reasoning', () => {
    const { parts, stop } = response(
      open({ type: 'tool_use', id: 'a', input: {} }) +
        delta({ type: 'input_json_delta', partial_json: '{}' }) +
        close() +
        open({ type: 'text', text: 'b' }, 1) +
        delta({ type: 'signature_delta', signature: 's' }, 1) +
        close(1),
      { stop_reason: 'tool_use' },
    );
    expect([parts, stop]).toEqual([[{ kind: 'text', text: 'b' }], 'end']);
  });

  it('lose nothing when a block reuses an open index', () => {
    const { parts } = response(
      open({ type: 'text', text: '' }) +
        delta({ type: 'text_delta', text: 'a' }) +
        open({ type: 'text', text: 'b' }) +
        close(),
    );
    expect(parts).toEqual([
      { kind: 'text', text: 'a' },
      { kind: 'text', text: 'b' },
    ]);
  });

  const odd = String.raw`{"type":"tool_use","id":"a","name":"f","input":{"a":"\x"}}`;

  it("are the upstream's error, streamed or not", () => {
    expect(refusalOf(() => whole(`{"content":[${odd}],"stop_reason":"tool_use"}`)).kind).toBe('upstream_error');
    const begun = `event: content_block_start\ndata: {"type":"content_block_start","index":0,"content_block":${odd}}\n\n`;
    expect(refusalOf(() => eventsIn(START + begun)).kind).toBe('upstream_error');
    const broken = begun.replace(String.raw`"\x"`, '');
    expect(refusalOf(() => eventsIn(START + broken)).kind).toBe('upstream_error');
  });
});
