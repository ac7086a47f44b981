import fc from 'fast-check';
import { aCall, aTarget, refusalOf } from '../../../test/support/calls.js';
import { aContent, built, decoded, resultOf } from '../../../test/support/translations.js';
import {
  type AnswerPart,
  type CallContent,
  type CallEvent,
  type CallResult,
  SseSplitter,
  type UpstreamTarget,
} from '../../call/index.js';
import { ChatCompletionsProtocol } from './chat-completions.protocol.js';
import { ChatCompletionsUpstream } from './chat-completions.upstream.js';

const upstream = new ChatCompletionsUpstream();
const HELLO = { model: 'm', messages: [{ role: 'user', content: 'Hello' }] };
const DONE = 'data: [DONE]\n\n';

const chunk = (members: string): string => `data: {"id":"chatcmpl-1","object":"chat.completion.chunk",${members}}\n\n`;
const delta = (members: string, finish = 'null'): string =>
  chunk(`"choices":[{"index":0,"delta":{${members}},"finish_reason":${finish}}]`);
const finish = (reason: string): string => delta('', JSON.stringify(reason));
const calls = (...fragments: readonly string[]): string => delta(`"tool_calls":[${fragments.join(',')}]`);
const call = (index: number, id: string, name: string, text = ''): string =>
  `{"index":${index},"id":"${id}","type":"function","function":{"name":"${name}","arguments":${JSON.stringify(text)}}}`;
const more = (index: number, text: string): string =>
  `{"index":${index},"function":{"arguments":${JSON.stringify(text)}}}`;

interface Setting {
  readonly content?: Partial<CallContent>;
  readonly target?: Partial<UpstreamTarget>;
}

const eventsOf = (stream: string, { content, target }: Setting = {}): CallEvent[] =>
  decoded(upstream.decodeStream(aContent(content), aTarget(target)), stream);
const answerOf = (stream: string, setting?: Setting): CallResult => resultOf(eventsOf(stream, setting));
const partsOf = (stream: string, setting?: Setting): readonly AnswerPart[] =>
  answerOf(`${stream}${finish('stop')}${DONE}`, setting).parts;
const toolCall = (id: string, name: string, text: string): AnswerPart & { readonly kind: 'tool-call' } => ({
  kind: 'tool-call',
  id,
  name,
  arguments: text,
});
const saidIn = (parts: readonly AnswerPart[]): string[] =>
  parts.map((part) => (part.kind === 'tool-call' ? `${part.id} ${part.name}(${part.arguments})` : part.text));

describe('streams of Chat Completions upstreams', () => {
  it('become events as they come (case 31)', () => {
    const stream = [
      delta('"role":"assistant","content":""'),
      delta('"content":"Hel"'),
      delta('"content":"lo"'),
      finish('stop'),
      chunk('"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":2}'),
      DONE,
    ];
    expect(eventsOf(stream.join(''))).toEqual([
      { type: 'call-start' },
      { type: 'part-start', start: { kind: 'text' } },
      { type: 'part-delta', text: 'Hel' },
      { type: 'part-delta', text: 'lo' },
      { type: 'part-end', part: { kind: 'text', text: 'Hello' } },
      { type: 'call-stop', reason: 'end' },
      {
        type: 'usage-update',
        usage: { input: 9, cacheRead: 0, cacheWrite: 0, cacheWrite1h: 0, output: 2, reasoning: 0 },
      },
      { type: 'call-end' },
    ]);
  });

  it('may say nothing at all (case 32)', () => {
    expect(answerOf(finish('stop') + DONE)).toMatchObject({ parts: [], stop: 'end' });
  });

  it.each([
    ['length', 'max_tokens'],
    ['content_filter', 'content_filter'],
    ['stop', 'end'],
    ['a new reason', 'end'],
    ['tool_calls', 'end'],
  ])('that end with "%s" end as %s when nothing is called (cases 33 and 44)', (reason, stop) => {
    expect(answerOf(delta('"content":"a"') + finish(reason) + DONE).stop).toBe(stop);
  });

  it.each([
    ['stop', 'tool_calls'],
    ['function_call', 'tool_calls'],
    ['length', 'max_tokens'],
    ['content_filter', 'content_filter'],
  ])('that end with "%s" behind a call end as %s (case 52)', (reason, stop) => {
    expect(answerOf(calls(call(0, 'a', 'f', '{}')) + finish(reason) + DONE).stop).toBe(stop);
  });

  it('say the last text with the reason, and may say the reason twice, of which the first counts (cases 38 and 39)', () => {
    const stream = delta('"content":"a"') + delta('"content":"b"', '"length"') + finish('stop') + DONE + DONE;
    expect(answerOf(stream)).toMatchObject({ parts: [{ text: 'ab' }], stop: 'max_tokens' });
  });

  it('are complete with a reason and without the marker, and cut without a reason (cases 36 and 37)', () => {
    expect(answerOf(delta('"content":"a"') + finish('stop')).stop).toBe('end');
    for (const stream of [
      delta('"content":"a"') + DONE,
      delta('"content":"a"'),
      delta('"content":"a"', '""') + DONE,
      DONE,
      '',
    ]) {
      expect(refusalOf(() => eventsOf(stream))).toMatchObject({
        kind: 'upstream_truncated',
        details: { failover: true },
      });
    }
  });

  it('may hold lines that are no JSON, comments and what comes behind the marker (cases 18 and 19)', () => {
    const stream = `: hi\n\ndata: {"choices":[{"delta":{"content":"lost\n\ndata: what\n\n${delta('"content":"a"')}${finish('stop')}${DONE}`;
    const late = delta('"content":"late"') + chunk('"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":1}');
    expect(saidIn(answerOf(stream + late).parts)).toEqual(['a']);
  });

  it('are errors when they say so, in every form (case 22)', () => {
    const forms = [
      'data: {"error":{"message":"Busy"}}\n\n',
      'event: error\ndata: {"message":"Busy"}\n\n',
      'event: error\ndata: Busy\n\n',
    ];
    for (const form of forms) expect(() => eventsOf(delta('"content":"a"') + form)).toThrow('Busy');
    expect(saidIn(partsOf(chunk('"error":null,"choices":[{"delta":{"content":"a"}}]')))).toEqual(['a']);
  });

  it('have usage anywhere, of which the last counts (case 92)', () => {
    const usage = (output: number): string => `"usage":{"prompt_tokens":9,"completion_tokens":${output}}`;
    const stream = [
      chunk(`"choices":[{"delta":{"content":"a"}}],${usage(1)}`),
      chunk(`"choices":[{"delta":{},"finish_reason":"stop"}],${usage(2)}`),
      chunk('"choices":[],"usage":null'),
      DONE,
    ];
    expect(answerOf(stream.join('')).usage).toMatchObject({ input: 9, output: 2 });
    expect(answerOf(finish('stop') + DONE).usage).toBeUndefined();
  });

  it('count a search that the answer cites, if one was asked for', () => {
    const cited = delta(
      '"annotations":[{"type":"url_citation","url_citation":{"url":"https://a.example","title":"A"}}]',
    );
    const stream = `${delta('"content":"a"')}${cited}${chunk('"choices":[{"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":1}')}${DONE}`;
    const content = { hostedTools: [{ type: 'web_search', path: 'tools[0]' }] };
    expect(answerOf(stream, { content, target: { flags: { hostedWebSearch: true } } })).toMatchObject({
      parts: [{ kind: 'text', text: 'a', annotations: [{ url: 'https://a.example', title: 'A' }] }],
      usage: { toolUses: { web_search: 1 } },
    });
    expect(answerOf(stream, { content }).usage).not.toHaveProperty('toolUses');
  });

  it('refuse in a part of its own (case 42)', () => {
    const stream = delta('"refusal":"I ca"') + delta('"refusal":"nnot."') + finish('stop') + DONE;
    expect(answerOf(stream)).toMatchObject({ parts: [{ kind: 'refusal', text: 'I cannot.' }], stop: 'refusal' });
  });
});

describe('thoughts of Chat Completions upstreams', () => {
  const thought = (text: string): AnswerPart => ({
    kind: 'reasoning',
    text,
    opaque: { kind: 'text', family: 'f', data: '', text },
  });

  it.each([
    ['"reasoning_content":"Hm."'],
    ['"reasoning":"Hm."'],
    ['"reasoning_details":[{"type":"reasoning.text","text":"Hm."}]'],
    ['"reasoning":"Hm.","reasoning_details":[{"text":"Hm."}]'],
  ])('stand under any of their names, and can be given back: %s (case 86)', (members) => {
    expect(partsOf(delta(members) + delta('"content":"42"'))).toEqual([thought('Hm.'), { kind: 'text', text: '42' }]);
  });

  it('may come behind a text, and within one chunk in front of it (case 86)', () => {
    const stream = delta('"content":"a"') + delta('"reasoning_content":"b","content":"c"');
    expect(partsOf(stream)).toEqual([{ kind: 'text', text: 'a' }, thought('b'), { kind: 'text', text: 'c' }]);
  });

  const SPLIT: Setting = { target: { flags: { thinkTagSplit: true } } };
  const contents = (...pieces: readonly string[]): string =>
    pieces.map((piece) => delta(`"content":${JSON.stringify(piece)}`)).join('');

  it('stand between tags, which may be cut, where the channel says so', () => {
    const whole = '\n<think>Is 1 < 2? </thin No.</think>Yes.<think>';
    const parts = [thought('Is 1 < 2? </thin No.'), { kind: 'text', text: 'Yes.<think>' }];
    for (let cut = 0; cut <= whole.length; cut += 1) {
      expect(partsOf(contents(whole.slice(0, cut), whole.slice(cut)), SPLIT)).toEqual(parts);
    }
    expect(partsOf(contents(...whole), SPLIT)).toEqual(parts);
    expect(saidIn(partsOf(contents(whole)))).toEqual([whole]);
  });

  it('are cut where the answer is, and a text that only looks like a tag is one', () => {
    expect(partsOf(contents('<think>Hm', '.</th'), SPLIT)).toEqual([thought('Hm.</th')]);
    for (const text of ['<thi', ' <b>', 'a<think>b</think>', '  ']) {
      expect(partsOf(contents(...text), SPLIT)).toEqual([{ kind: 'text', text }]);
    }
  });
});

describe('tool calls of Chat Completions upstreams', () => {
  it('come in pieces that stay as they are (cases 45 and 54)', () => {
    const text = String.raw`{"q":"é \u2028 \ud800 ","n":9007199254740993}`;
    const pieces = [...text.matchAll(/.{1,12}/gs)].map(([piece]) => piece);
    const stream = calls(call(0, 'call_9', 'f')) + pieces.map((piece) => calls(more(0, piece))).join('');
    expect(partsOf(stream)).toEqual([toolCall('call_9', 'f', text)]);
    const deltas = eventsOf(stream + finish('stop')).filter(({ type }) => type === 'part-delta');
    expect(deltas).toHaveLength(pieces.length);
  });

  it('come one behind the other, or mixed by their numbers (case 46)', () => {
    const expected = ['a f({"x":1})', 'b g({"y":2})'];
    const inOrder = [call(0, 'a', 'f'), more(0, '{"x"'), more(0, ':1}'), call(1, 'b', 'g'), more(1, '{"y":2}')];
    const mixed = [call(0, 'a', 'f', '{"x"'), call(1, 'b', 'g', '{"y"'), more(0, ':1}'), more(1, ':2}')];
    const together = [`${call(0, 'a', 'f')},${call(1, 'b', 'g')}`, `${more(1, '{"y":2}')},${more(0, '{"x":1}')}`];
    for (const order of [inOrder, mixed, together]) {
      expect(saidIn(partsOf(order.map((fragment) => calls(fragment)).join('')))).toEqual(expected);
    }
  });

  it('are told whole before the next one begins, without waiting for the end', () => {
    const stream = calls(call(0, 'a', 'f', '{"x":1}')) + calls(call(1, 'b', 'g', '{"y":2}'));
    const begun = eventsOf(stream + finish('stop'));
    const ends = begun.findIndex(({ type }) => type === 'part-end');
    const starts = begun.findLastIndex(({ type }) => type === 'part-start');
    expect(ends).toBeLessThan(starts);
  });

  it('stand between texts that stay apart (case 47)', () => {
    const stream = delta('"content":"a"') + calls(call(0, 'a', 'f', '{}')) + delta('"content":"b","tool_calls":[]');
    expect(saidIn(partsOf(stream + delta('"content":"c","tool_calls":null')))).toEqual(['a', 'a f({})', 'bc']);
  });

  it.each(['""', '"{}"', '"null"', 'null', '" "'])('that take nothing have empty arguments: %s (case 48)', (text) => {
    const stream = calls(`{"index":0,"id":"a","function":{"name":"f","arguments":${text}}}`);
    expect(partsOf(stream)).toEqual([toolCall('a', 'f', '{}')]);
    expect(partsOf(calls('{"index":0,"id":"a","function":{"name":"f"}}'))).toEqual([toolCall('a', 'f', '{}')]);
  });

  it('may have an object for arguments (case 49)', () => {
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
  ])('are told apart: %s (case 50)', (_, fragments) => {
    expect(saidIn(partsOf(fragments.map((fragment) => calls(fragment)).join('')))).toEqual([
      'a f({"x":1})',
      'b g({"y":2})',
    ]);
  });

  it('get ids where they have none, and others where two are the same (case 50)', () => {
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

  it('are told before what is said next, also when that has waited for their ids', () => {
    const stream = calls('{"index":0,"function":{"name":"f","arguments":"{}"}}') + delta('"content":"b"');
    const decoder = upstream.decodeStream(aContent(), aTarget());
    const told = [...new SseSplitter().next(Buffer.from(stream))].flatMap((event) => decoder.next(event));
    expect(told.map((event) => (event.type === 'part-start' ? event.start.kind : event.type))).toEqual([
      'call-start',
      'tool-call',
      'part-delta',
      'part-end',
      'text',
      'part-delta',
    ]);
  });

  it('that were never given a name are nobody’s to answer', () => {
    expect(partsOf(calls('{"index":0,"id":"a","function":{"arguments":"{}"}}'))).toEqual([]);
  });

  it('may be of the legacy form (case 65)', () => {
    const stream =
      delta('"function_call":{"name":"f","arguments":""}') + delta('"function_call":{"arguments":"{\\"x\\":1}"}');
    expect(saidIn(partsOf(stream))).toEqual(['call_1 f({"x":1})']);
  });

  it('that are cut stay cut (case 53)', () => {
    const answer = answerOf(calls(call(0, 'a', 'f', '{"x":"un')) + finish('length') + DONE);
    expect(answer).toMatchObject({ parts: [{ arguments: '{"x":"un' }], stop: 'max_tokens' });
  });

  it('keep the text behind a call that is not whole until the end', () => {
    expect(saidIn(partsOf(calls(call(0, 'a', 'f', '{"x":')) + delta('"content":"b"') + calls(more(0, '1}'))))).toEqual([
      'a f({"x":1})',
      'b',
    ]);
  });

  it('have the names that the client gave its tools (case 63), and their namespaces', () => {
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

  it('of freeform tools are unwrapped when they are whole (case 62)', () => {
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

describe('whole answers of Chat Completions upstreams', () => {
  const decodedWhole = (body: string, { content, target }: Setting = {}): CallResult =>
    upstream.decodeResponse(body, aContent(content), aTarget(target));
  const whole = (message: string, reason = '"stop"'): string =>
    `{"id":"x","choices":[{"index":0,"message":{"role":"assistant",${message}},"finish_reason":${reason}}],"usage":{"prompt_tokens":9,"completion_tokens":2,"prompt_tokens_details":{"cached_tokens":4}}}`;

  it('say what a stream would', () => {
    const message = `"reasoning_content":"Hm.","content":"Hi","refusal":null,"tool_calls":[${call(0, 'a', 'f', '{}')},{"id":"b","type":"function","function":{"name":"g","arguments":{"y":2}}}]`;
    const result = decodedWhole(whole(message, '"tool_calls"'));
    expect(saidIn(result.parts)).toEqual(['Hm.', 'Hi', 'a f({})', 'b g({"y":2})']);
    expect(result).toMatchObject({ stop: 'tool_calls', usage: { input: 9, cacheRead: 4, output: 2 } });
  });

  it('are whole without a reason to end', () => {
    expect(decodedWhole(whole('"content":"Hi"', 'null'))).toMatchObject({ parts: [{ text: 'Hi' }], stop: 'end' });
    expect(decodedWhole(whole('"content":null'))).toMatchObject({ parts: [], stop: 'end' });
  });

  it('are errors when they say so, or say nothing (case 22)', () => {
    expect(() => decodedWhole('{"error":{"message":"Busy"}}')).toThrow('Busy');
    for (const body of ['Bad gateway', '[]', '{}', '{"choices":[]}']) {
      expect(refusalOf(() => decodedWhole(body))).toMatchObject({
        kind: 'upstream_error',
        details: { failover: true },
      });
    }
  });
});

describe('whatever Chat Completions upstreams say', () => {
  const odd = fc.jsonValue({ maxDepth: 2 });
  const orOdd = <T>(usual: fc.Arbitrary<T>): fc.Arbitrary<unknown> => fc.oneof({ weight: 9, arbitrary: usual }, odd);
  const fragment = fc.record(
    {
      index: orOdd(fc.nat(2)),
      id: orOdd(fc.constantFrom('', 'a', 'b')),
      function: orOdd(
        fc.record(
          { name: orOdd(fc.constantFrom('f', 'exec')), arguments: orOdd(fc.constantFrom('', '{', '"x":1', '}', '{}')) },
          { requiredKeys: [] },
        ),
      ),
      custom: orOdd(fc.constant({ name: 'exec', input: 'ls' })),
    },
    { requiredKeys: [] },
  );
  const message = fc.record(
    {
      content: orOdd(fc.constantFrom('a', '<think>', '</think>')),
      reasoning: orOdd(fc.constant('b')),
      refusal: orOdd(fc.constant('c')),
      annotations: odd,
      tool_calls: orOdd(fc.array(orOdd(fragment), { maxLength: 3 })),
      function_call: orOdd(fc.constant({ name: 'f', arguments: '{' })),
    },
    { requiredKeys: [] },
  );
  const answer = fc.record(
    {
      choices: orOdd(
        fc.array(
          fc.record(
            { delta: orOdd(message), message: orOdd(message), finish_reason: orOdd(fc.constantFrom(null, 'stop')) },
            { requiredKeys: [] },
          ),
          { maxLength: 2 },
        ),
      ),
      usage: orOdd(fc.constant({ prompt_tokens: 1 })),
    },
    { requiredKeys: [] },
  );
  const setting: Setting = {
    content: { tools: [{ name: 'exec', schema: undefined, freeform: {}, path: 'tools[0]' }] },
    target: { flags: { thinkTagSplit: true } },
  };

  it('is an answer that obeys the grammar of events', () => {
    const property = fc.property(fc.array(answer, { maxLength: 8 }), (chunks) => {
      const stream = chunks.map((said) => `data: ${JSON.stringify(said)}\n\n`).join('');
      expect(eventsOf(stream + finish('stop') + DONE, setting).at(-1)).toEqual({ type: 'call-end' });
    });
    fc.assert(property, { numRuns: 500 });
  });
});
