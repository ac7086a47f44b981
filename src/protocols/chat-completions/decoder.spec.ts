import fc from 'fast-check';
import { aTarget, refusalOf } from '../../../test/support/calls.js';
import { call, calls, chunk, delta, DONE, finish } from '../../../test/support/chat-completions-chunks.js';
import {
  responseOf,
  eventsOf,
  partsOf,
  saidIn,
  type Setting,
  upstream,
} from '../../../test/support/chat-completions-streams.js';
import { aContent } from '../../../test/support/translations.js';
import type { CallResult, ResponsePart } from '../contract/index.js';

describe('Chat Completions stream decoding', () => {
  it('emits events as they arrive (case 31)', () => {
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

  it('accepts an empty response (case 32)', () => {
    expect(responseOf(finish('stop') + DONE)).toMatchObject({ parts: [], stop: 'end' });
  });

  it.each([
    ['length', 'max_tokens'],
    ['content_filter', 'content_filter'],
    ['stop', 'end'],
    ['a new reason', 'end'],
    ['tool_calls', 'end'],
  ])('maps the finish reason "%s" to %s without calls (cases 33 and 44)', (reason, stop) => {
    expect(responseOf(delta('"content":"a"') + finish(reason) + DONE).stop).toBe(stop);
  });

  it.each([
    ['stop', 'tool_calls'],
    ['function_call', 'tool_calls'],
    ['length', 'max_tokens'],
    ['content_filter', 'content_filter'],
  ])('maps the finish reason "%s" after a call to %s (case 52)', (reason, stop) => {
    expect(responseOf(calls(call(0, 'a', 'f', '{}')) + finish(reason) + DONE).stop).toBe(stop);
  });

  it('accepts text with the finish reason, and uses the first of several reasons (cases 38 and 39)', () => {
    const stream = delta('"content":"a"') + delta('"content":"b"', '"length"') + finish('stop') + DONE + DONE;
    expect(responseOf(stream)).toMatchObject({ parts: [{ text: 'ab' }], stop: 'max_tokens' });
  });

  it('is complete with a finish reason and truncated without one (cases 36 and 37)', () => {
    expect(responseOf(delta('"content":"a"') + finish('stop')).stop).toBe('end');
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

  it('skips invalid lines, comments and events after the marker (cases 18 and 19)', () => {
    const stream = `: hi\n\ndata: {"choices":[{"delta":{"content":"lost\n\ndata: what\n\n${delta('"content":"a"')}${finish('stop')}${DONE}`;
    const late = delta('"content":"late"') + chunk('"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":1}');
    expect(saidIn(responseOf(stream + late).parts)).toEqual(['a']);
  });

  it('throws on errors in every form (case 22)', () => {
    const forms = [
      'data: {"error":{"message":"Busy"}}\n\n',
      'event: error\ndata: {"message":"Busy"}\n\n',
      'event: error\ndata: Busy\n\n',
    ];
    for (const form of forms) expect(() => eventsOf(delta('"content":"a"') + form)).toThrow('Busy');
    expect(saidIn(partsOf(chunk('"error":null,"choices":[{"delta":{"content":"a"}}]')))).toEqual(['a']);
  });

  it('uses the last usage, wherever it is (case 92)', () => {
    const usage = (output: number): string => `"usage":{"prompt_tokens":9,"completion_tokens":${output}}`;
    const stream = [
      chunk(`"choices":[{"delta":{"content":"a"}}],${usage(1)}`),
      chunk(`"choices":[{"delta":{},"finish_reason":"stop"}],${usage(2)}`),
      chunk('"choices":[],"usage":null'),
      DONE,
    ];
    expect(responseOf(stream.join('')).usage).toMatchObject({ input: 9, output: 2 });
    expect(responseOf(finish('stop') + DONE).usage).toBeUndefined();
  });

  it('counts a cited search if one was requested', () => {
    const cited = delta(
      '"annotations":[{"type":"url_citation","url_citation":{"url":"https://a.example","title":"A"}}]',
    );
    const stream = `${delta('"content":"a"')}${cited}${chunk('"choices":[{"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":1}')}${DONE}`;
    const content = { hostedTools: [{ type: 'web_search', path: 'tools[0]' }] };
    expect(responseOf(stream, { content, target: { flags: { hostedWebSearch: true } } })).toMatchObject({
      parts: [{ kind: 'text', text: 'a', annotations: [{ url: 'https://a.example', title: 'A' }] }],
      usage: { toolUses: { web_search: 1 } },
    });
    expect(responseOf(stream, { content }).usage).not.toHaveProperty('toolUses');
  });

  it('emits refusals as a part (case 42)', () => {
    const stream = delta('"refusal":"I ca"') + delta('"refusal":"nnot."') + finish('stop') + DONE;
    expect(responseOf(stream)).toMatchObject({ parts: [{ kind: 'refusal', text: 'I cannot.' }], stop: 'refusal' });
  });
});

describe('Chat Completions reasoning decoding', () => {
  const thought = (text: string): ResponsePart => ({
    kind: 'reasoning',
    text,
    opaque: { kind: 'text', family: 'f', data: '', text },
  });

  it.each([
    ['"reasoning_content":"Hm."'],
    ['"reasoning":"Hm."'],
    ['"reasoning_details":[{"type":"reasoning.text","text":"Hm."}]'],
    ['"reasoning":"Hm.","reasoning_details":[{"text":"Hm."}]'],
  ])('reads reasoning from any member, replayable: %s (case 86)', (members) => {
    expect(partsOf(delta(members) + delta('"content":"42"'))).toEqual([thought('Hm.'), { kind: 'text', text: '42' }]);
  });

  it('accepts reasoning after text, and before text in one chunk (case 86)', () => {
    const stream = delta('"content":"a"') + delta('"reasoning_content":"b","content":"c"');
    expect(partsOf(stream)).toEqual([{ kind: 'text', text: 'a' }, thought('b'), { kind: 'text', text: 'c' }]);
  });

  const SPLIT: Setting = { target: { flags: { thinkTagSplit: true } } };
  const contents = (...pieces: readonly string[]): string =>
    pieces.map((piece) => delta(`"content":${JSON.stringify(piece)}`)).join('');

  it('extracts reasoning between tags, also split ones, if enabled', () => {
    const whole = '\n<think>Is 1 < 2? </thin No.</think>Yes.<think>';
    const parts = [thought('Is 1 < 2? </thin No.'), { kind: 'text', text: 'Yes.<think>' }];
    for (let cut = 0; cut <= whole.length; cut += 1) {
      expect(partsOf(contents(whole.slice(0, cut), whole.slice(cut)), SPLIT)).toEqual(parts);
    }
    expect(partsOf(contents(...whole), SPLIT)).toEqual(parts);
    expect(saidIn(partsOf(contents(whole)))).toEqual([whole]);
  });

  it('truncates reasoning with the response; treats other tags as text', () => {
    expect(partsOf(contents('<think>Hm', '.</th'), SPLIT)).toEqual([thought('Hm.</th')]);
    for (const text of ['<thi', ' <b>', 'a<think>b</think>', '  ']) {
      expect(partsOf(contents(...text), SPLIT)).toEqual([{ kind: 'text', text }]);
    }
  });
});

describe('unstreamed Chat Completions responses', () => {
  const decodedWhole = (body: string, { content, target }: Setting = {}): CallResult =>
    upstream.decodeResponse(body, aContent(content), aTarget(target));
  const whole = (message: string, reason = '"stop"'): string =>
    `{"id":"x","choices":[{"index":0,"message":{"role":"assistant",${message}},"finish_reason":${reason}}],"usage":{"prompt_tokens":9,"completion_tokens":2,"prompt_tokens_details":{"cached_tokens":4}}}`;

  it('equal their streamed form', () => {
    const message = `"reasoning_content":"Hm.","content":"Hi","refusal":null,"tool_calls":[${call(0, 'a', 'f', '{}')},{"id":"b","type":"function","function":{"name":"g","arguments":{"y":2}}}]`;
    const result = decodedWhole(whole(message, '"tool_calls"'));
    expect(saidIn(result.parts)).toEqual(['Hm.', 'Hi', 'a f({})', 'b g({"y":2})']);
    expect(result).toMatchObject({ stop: 'tool_calls', usage: { input: 9, cacheRead: 4, output: 2 } });
  });

  it('are complete without a finish reason', () => {
    expect(decodedWhole(whole('"content":"Hi"', 'null'))).toMatchObject({ parts: [{ text: 'Hi' }], stop: 'end' });
    expect(decodedWhole(whole('"content":null'))).toMatchObject({ parts: [], stop: 'end' });
  });

  it('throw when they are errors or empty (case 22)', () => {
    expect(() => decodedWhole('{"error":{"message":"Busy"}}')).toThrow('Busy');
    for (const body of ['Bad gateway', '[]', '{}', '{"choices":[]}']) {
      expect(refusalOf(() => decodedWhole(body))).toMatchObject({
        kind: 'upstream_error',
        details: { failover: true },
      });
    }
  });
});

describe('any Chat Completions stream', () => {
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
  const response = fc.record(
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

  it('decodes to events that obey the grammar', () => {
    const property = fc.property(fc.array(response, { maxLength: 8 }), (chunks) => {
      const stream = chunks.map((said) => `data: ${JSON.stringify(said)}\n\n`).join('');
      expect(eventsOf(stream + finish('stop') + DONE, setting).at(-1)).toEqual({ type: 'call-end' });
    });
    fc.assert(property, { numRuns: 500 });
  });
});
