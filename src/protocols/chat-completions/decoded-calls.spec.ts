import { aCall, aTarget } from '../../../test/support/calls.js';
import { call, calls, delta, DONE, finish } from '../../../test/support/chat-completions-chunks.js';
import { responseOf, eventsOf, partsOf, saidIn, upstream } from '../../../test/support/chat-completions-streams.js';
import { aContent, built } from '../../../test/support/translations.js';
import { type ResponsePart, SseSplitter } from '../contract/index.js';
import { ChatCompletionsProtocol } from './protocol.js';

const HELLO = { model: 'm', messages: [{ role: 'user', content: 'Hello' }] };

const more = (index: number, text: string): string =>
  `{"index":${index},"function":{"arguments":${JSON.stringify(text)}}}`;

const toolCall = (id: string, name: string, text: string): ResponsePart & { readonly kind: 'tool-call' } => ({
  kind: 'tool-call',
  id,
  name,
  arguments: text,
});

describe('Chat Completions tool call decoding', () => {
  it('assembles fragments unchanged (cases 45 and 54)', () => {
    const text = String.raw`{"q":"é \u2028 \ud800 ","n":9007199254740993}`;
    const pieces = [...text.matchAll(/.{1,12}/gs)].map(([piece]) => piece);
    const stream = calls(call(0, 'call_9', 'f')) + pieces.map((piece) => calls(more(0, piece))).join('');
    expect(partsOf(stream)).toEqual([toolCall('call_9', 'f', text)]);
    const deltas = eventsOf(stream + finish('stop')).filter(({ type }) => type === 'part-delta');
    expect(deltas).toHaveLength(pieces.length);
  });

  it('separates sequential and interleaved calls by index (case 46)', () => {
    const expected = ['a f({"x":1})', 'b g({"y":2})'];
    const inOrder = [call(0, 'a', 'f'), more(0, '{"x"'), more(0, ':1}'), call(1, 'b', 'g'), more(1, '{"y":2}')];
    const mixed = [call(0, 'a', 'f', '{"x"'), call(1, 'b', 'g', '{"y"'), more(0, ':1}'), more(1, ':2}')];
    const together = [`${call(0, 'a', 'f')},${call(1, 'b', 'g')}`, `${more(1, '{"y":2}')},${more(0, '{"x":1}')}`];
    for (const order of [inOrder, mixed, together]) {
      expect(saidIn(partsOf(order.map((fragment) => calls(fragment)).join('')))).toEqual(expected);
    }
  });

  it('emits a complete call before the next one begins', () => {
    const stream = calls(call(0, 'a', 'f', '{"x":1}')) + calls(call(1, 'b', 'g', '{"y":2}'));
    const begun = eventsOf(stream + finish('stop'));
    const ends = begun.findIndex(({ type }) => type === 'part-end');
    const starts = begun.findLastIndex(({ type }) => type === 'part-start');
    expect(ends).toBeLessThan(starts);
  });

  it('keeps texts between calls separate (case 47)', () => {
    const stream = delta('"content":"a"') + calls(call(0, 'a', 'f', '{}')) + delta('"content":"b","tool_calls":[]');
    expect(saidIn(partsOf(stream + delta('"content":"c","tool_calls":null')))).toEqual(['a', 'a f({})', 'bc']);
  });

  it.each(['""', '"{}"', '"null"', 'null', '" "'])(
    'emits an empty object for calls without arguments: %s (case 48)',
    (text) => {
      const stream = calls(`{"index":0,"id":"a","function":{"name":"f","arguments":${text}}}`);
      expect(partsOf(stream)).toEqual([toolCall('a', 'f', '{}')]);
      expect(partsOf(calls('{"index":0,"id":"a","function":{"name":"f"}}'))).toEqual([toolCall('a', 'f', '{}')]);
    },
  );

  it('accepts arguments as an object (case 49)', () => {
    const stream = calls('{"index":0,"id":"a","type":"function","function":{"name":"f","arguments":{"x":[1]}}}');
    expect(partsOf(stream)).toEqual([toolCall('a', 'f', '{"x":[1]}')]);
  });

  it.each([
    ['whole in one chunk', [`${call(0, 'a', 'f', '{"x":1}')},${call(1, 'b', 'g', '{"y":2}')}`]],
    ['the name again and again', [call(0, 'a', 'f', '{"x"'), call(0, 'a', 'f', ':1}'), call(1, 'b', 'g', '{"y":2}')]],
    [
      'a new id with each fragment',
      [call(0, 'a', 'f', '{"x"'), `{"index":0,"id":"z","function":{"arguments":":1}"}}`, call(1, 'b', 'g', '{"y":2}')],
    ],
    [
      'the id late',
      [call(0, '', 'f', '{"x":'), '{"index":0,"id":"a","function":{"arguments":"1}"}}', call(1, 'b', 'g', '{"y":2}')],
    ],
    [
      'the name late',
      [
        '{"index":0,"id":"a","function":{"arguments":"{"}}',
        '{"index":0,"function":{"name":"f","arguments":"\\"x\\":1}"}}',
        call(1, 'b', 'g', '{"y":2}'),
      ],
    ],
    [
      'no number, but ids',
      [
        '{"id":"a","function":{"name":"f","arguments":"{\\"x\\""}}',
        '{"id":"b","function":{"name":"g","arguments":"{\\"y\\":2}"}}',
        '{"id":"a","function":{"arguments":":1}"}}',
      ],
    ],
    [
      'no number, by their place',
      [
        '{"id":"a","function":{"name":"f"}},{"id":"b","function":{"name":"g"}}',
        '{"function":{"arguments":"{\\"x\\":1}"}},{"function":{"arguments":"{\\"y\\":2}"}}',
      ],
    ],
    ['one number for both', [call(0, 'a', 'f', '{"x":1}'), call(0, 'b', 'g', '{"y":'), more(0, '2}')]],
  ])('distinguishes calls: %s (case 50)', (_, fragments) => {
    expect(saidIn(partsOf(fragments.map((fragment) => calls(fragment)).join('')))).toEqual([
      'a f({"x":1})',
      'b g({"y":2})',
    ]);
  });

  it('assigns missing IDs and replaces duplicate ones (case 50)', () => {
    const nameless =
      calls('{"index":0,"function":{"name":"f","arguments":"{}"}}') +
      calls('{"index":0,"function":{"name":"g","arguments":"{}"}}');
    expect(saidIn(partsOf(nameless))).toEqual(['call_1 f({})', 'call_2 g({})']);
    const repeated = calls(call(0, '', 'f', '{"x":1}')) + calls(call(0, '', 'f', '{"x":2}'));
    expect(saidIn(partsOf(repeated))).toEqual(['call_1 f({"x":1})', 'call_2 f({"x":2})']);
    expect(saidIn(partsOf(calls(call(0, 'a', 'f', '{}')) + calls(call(1, 'a', 'f', '{}'))))).toEqual([
      'a f({})',
      'a_2 f({})',
    ]);
  });

  it('emits calls before later text, even when they waited for an ID', () => {
    const stream = calls('{"index":0,"function":{"name":"f","arguments":"{}"}}') + delta('"content":"b"');
    const decoder = upstream.decodeStream(aContent(), aTarget());
    const emitted = [...new SseSplitter().next(Buffer.from(stream))].flatMap((event) => decoder.next(event));
    expect(emitted.map((event) => (event.type === 'part-start' ? event.start.kind : event.type))).toEqual([
      'call-start',
      'tool-call',
      'part-delta',
      'part-end',
      'text',
      'part-delta',
    ]);
  });

  it('ignores calls without a name', () => {
    expect(partsOf(calls('{"index":0,"id":"a","function":{"arguments":"{}"}}'))).toEqual([]);
  });

  it('accepts the legacy form (case 65)', () => {
    const stream =
      delta('"function_call":{"name":"f","arguments":""}') + delta('"function_call":{"arguments":"{\\"x\\":1}"}');
    expect(saidIn(partsOf(stream))).toEqual(['call_1 f({"x":1})']);
  });

  it('keeps truncated arguments (case 53)', () => {
    const response = responseOf(calls(call(0, 'a', 'f', '{"x":"un')) + finish('length') + DONE);
    expect(response).toMatchObject({ parts: [{ arguments: '{"x":"un' }], stop: 'max_tokens' });
  });

  it('holds text after an incomplete call until the end', () => {
    expect(saidIn(partsOf(calls(call(0, 'a', 'f', '{"x":')) + delta('"content":"b"') + calls(more(0, '1}'))))).toEqual([
      'a f({"x":1})',
      'b',
    ]);
  });

  it("restores the client's tool names and namespaces (case 63)", () => {
    const name = `${'long.'.repeat(13)}name`;
    const tools = [
      { name, schema: undefined, path: 'tools[0]' },
      { name: 'read', namespace: 'files', schema: undefined, path: 'tools[1]' },
    ];
    const request = built(upstream, {
      call: aCall(new ChatCompletionsProtocol(), HELLO),
      content: aContent({ tools }),
    });
    const [long, namespaced] = request.body['tools'] as readonly { function: { name: string } }[];
    expect(long!.function.name).toMatch(/^[A-Za-z0-9_]{55}_[0-9a-f]{8}$/);
    expect(namespaced!.function.name).toBe('files__read');
    const stream = calls(call(0, 'a', long!.function.name, '{}')) + calls(call(1, 'b', 'files__read', '{}'));
    expect(partsOf(stream, { content: { tools } })).toEqual([
      toolCall('a', name, '{}'),
      { ...toolCall('b', 'read', '{}'), namespace: 'files' },
    ]);
  });

  it('unwraps freeform calls when complete (case 62)', () => {
    const content = { tools: [{ name: 'exec', schema: undefined, freeform: {}, path: 'tools[0]' }] };
    const freeform = (text: string): object => ({ ...toolCall('a', 'exec', text), isFreeform: true });
    const wrapped = calls(call(0, 'a', 'exec', '{"input":')) + calls(more(0, '"ls \\"-l\\"\\n"}'));
    expect(partsOf(wrapped, { content })).toEqual([freeform('ls "-l"\n')]);
    expect(partsOf(calls(call(0, 'a', 'exec', 'ls -l')), { content })).toEqual([freeform('ls -l')]);
    const custom = (input: string, name = ''): string =>
      calls(`{"index":0,"id":"a","type":"custom","custom":{${name}"input":${JSON.stringify(input)}}}`);
    expect(partsOf(custom('ls', '"name":"exec",') + custom(' -l'), { content })).toEqual([freeform('ls -l')]);
    const json = '{"input":"ls"}';
    expect(partsOf(custom(json, '"name":"exec",'), { content })).toEqual([freeform(json)]);
  });
});
