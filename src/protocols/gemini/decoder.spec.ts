import { aTarget, refusalOf } from '../../../test/support/calls.js';
import { aContent, decoded, resultOf } from '../../../test/support/translations.js';
import {
  type CallContent,
  type CallEvent,
  type CallResult,
  NO_TOKENS,
  type ResponsePart,
  type StopReason,
} from '../contract/index.js';
import { GeminiUpstream } from './upstream.js';

const upstream = new GeminiUpstream();

const event = (members: string): string => `data: {${members},"modelVersion":"gemini-x","responseId":"r"}\r\n\r\n`;
const candidate = (parts: readonly string[], rest = ''): string =>
  `"candidates":[{"content":{"parts":[${parts.join(',')}],"role":"model"}${rest},"index":0}]`;
const said = (...parts: readonly string[]): string => event(candidate(parts));
const ended = (reason: string, ...parts: readonly string[]): string =>
  event(
    `${candidate(parts, `,"finishReason":"${reason}"`)},"usageMetadata":{"promptTokenCount":9,"candidatesTokenCount":2,"totalTokenCount":11}`,
  );
const text = (words: string, signature?: string): string => `{"text":${JSON.stringify(words)}${signed(signature)}}`;
const reasoningBlock = (words: string): string => `{"text":${JSON.stringify(words)},"thought":true}`;
const call = (name: string, args: string, { id, signature }: { id?: string; signature?: string } = {}): string =>
  `{"functionCall":{${id === undefined ? '' : `"id":"${id}",`}"name":"${name}","args":${args}}${signed(signature)}}`;
const signed = (signature: string | undefined): string =>
  signature === undefined ? '' : `,"thoughtSignature":"${signature}"`;

const eventsOf = (stream: string, content: Partial<CallContent> = {}): CallEvent[] =>
  decoded(upstream.decodeStream(aContent(content), aTarget()), stream);
const responseOf = (stream: string, content?: Partial<CallContent>): CallResult => resultOf(eventsOf(stream, content));
const partsOf = (stream: string, content?: Partial<CallContent>): readonly ResponsePart[] =>
  responseOf(stream, content).parts;
const wholeOf = (members: string, content: Partial<CallContent> = {}): CallResult =>
  upstream.decodeResponse(`{${members}}`, aContent(content), aTarget());

const reasoning = (words: string, data?: string): ResponsePart => ({
  kind: 'reasoning',
  text: words,
  ...(data !== undefined && { opaque: { kind: 'encrypted', family: 'f', data, text: '' } }),
});
const words = (emitted: string): ResponsePart => ({ kind: 'text', text: emitted });
const toolCall = (id: string, name: string, args: string): ResponsePart => ({
  kind: 'tool-call',
  id,
  name,
  arguments: args,
});

describe('Gemini stream decoding', () => {
  it('emits events as they arrive', () => {
    expect(eventsOf(said(text('Hel')) + ended('STOP', text('lo')))).toEqual([
      { type: 'call-start' },
      { type: 'part-start', start: { kind: 'text' } },
      { type: 'part-delta', text: 'Hel' },
      { type: 'part-delta', text: 'lo' },
      { type: 'part-end', part: words('Hello') },
      { type: 'call-stop', reason: 'end' },
      { type: 'usage-update', usage: { ...NO_TOKENS, input: 9, output: 2, serviceTier: 'standard' } },
      { type: 'call-end' },
    ]);
  });

  it('reports usage with every chunk, initially provisional', () => {
    const first = event(`${candidate([text('Hi')])},"usageMetadata":{"promptTokenCount":9,"totalTokenCount":9}`);
    const updates = eventsOf(first + ended('STOP', text('!'))).filter(({ type }) => type === 'usage-update');
    expect(updates).toMatchObject([{ usage: { input: 9 }, isProvisional: true }, { usage: { input: 9, output: 2 } }]);
    expect(updates[1]).not.toHaveProperty('isProvisional');
  });

  it('does not treat prompt usage as a report of output', () => {
    const end = (...parts: string[]): string =>
      event(`${candidate(parts, ',"finishReason":"STOP"')},"usageMetadata":{"promptTokenCount":9}`);
    const isProvisional = (stream: string): unknown =>
      eventsOf(stream).find((emitted) => emitted.type === 'usage-update')?.isProvisional;
    expect(isProvisional(end(text('Hi')))).toBe(true);
    expect(isProvisional(end())).toBeUndefined();
  });

  it('reads usage after the end', () => {
    const end = event(`${candidate([text('Hi')], ',"finishReason":"STOP"')},"usageMetadata":{"promptTokenCount":9}`);
    const usage = event('"usageMetadata":{"promptTokenCount":9,"candidatesTokenCount":3}');
    expect(responseOf(end + usage).usage).toMatchObject({ input: 9, output: 3 });
  });

  it('ends with the final usage report and ignores later events', () => {
    const stream = said(text('Hi')) + ended('STOP');
    expect(eventsOf(stream + stream)).toEqual(eventsOf(stream));
  });

  it('separates reasoning and text', () => {
    const stream =
      said(reasoningBlock('Let me ')) + said(reasoningBlock('see.'), text('It is')) + ended('STOP', text(' so.'));
    expect(partsOf(stream)).toEqual([reasoning('Let me see.'), words('It is so.')]);
  });

  it('keeps arguments as written', () => {
    const args = '{"big":9007199254740993,"one":1.0,"10":1,"2":2,"text":"\\u00e9"}';
    expect(partsOf(ended('STOP', call('f', args, { id: 'a1' })))).toEqual([toolCall('a1', 'f', args)]);
  });

  it('assigns missing call IDs, unique in the conversation', () => {
    const turns: CallContent['turns'] = [
      { role: 'user', parts: [{ kind: 'text', text: 'Hello' }] },
      { role: 'assistant', parts: [{ kind: 'tool-call', id: 'call_2', name: 'f', arguments: '{}' }] },
    ];
    const ids = partsOf(ended('STOP', call('f', '{}'), call('g', '{}')), { turns }).map((part) =>
      part.kind === 'tool-call' ? part.id : '',
    );
    expect(new Set(['call_2', '', ...ids]).size).toBe(4);
  });

  it('reports calls as stop reason, which the protocol does not', () => {
    expect(responseOf(ended('STOP', call('f', '{}')))).toMatchObject({ stop: 'tool_calls' });
  });

  it('emits an empty object for calls without arguments', () => {
    expect(partsOf(ended('STOP', '{"functionCall":{"name":"f","id":"a"}}'))).toEqual([toolCall('a', 'f', '{}')]);
  });

  it('unwraps freeform input and restores tool names', () => {
    const tools: CallContent['tools'] = [
      { name: 'patch', freeform: {}, schema: undefined, path: 'tools[0]' },
      { name: 'read', namespace: 'disk', schema: undefined, path: 'tools[1]' },
    ];
    const stream = ended(
      'STOP',
      call('patch', '{"input":"*** Begin"}', { id: 'a' }),
      call('disk__read', '{}', { id: 'b' }),
    );
    expect(partsOf(stream, { tools })).toEqual([
      { kind: 'tool-call', id: 'a', name: 'patch', isFreeform: true, arguments: '*** Begin' },
      { kind: 'tool-call', id: 'b', name: 'read', namespace: 'disk', arguments: '{}' },
    ]);
  });

  describe('signatures', () => {
    it('of a call precede it, with its reasoning', () => {
      const stream =
        said(reasoningBlock('Ask.')) +
        ended('STOP', call('f', '{}', { id: 'a', signature: 'S' }), call('g', '{}', { id: 'b' }));
      expect(partsOf(stream)).toEqual([reasoning('Ask.', 'S'), toolCall('a', 'f', '{}'), toolCall('b', 'g', '{}')]);
    });

    it('of a call follow earlier text', () => {
      const stream = said(text('I ask.')) + ended('STOP', call('f', '{}', { id: 'a', signature: 'S' }));
      expect(partsOf(stream)).toEqual([words('I ask.'), reasoning('', 'S'), toolCall('a', 'f', '{}')]);
    });

    it('of sequential calls precede each', () => {
      const stream = ended(
        'STOP',
        call('f', '{}', { id: 'a', signature: 'S' }),
        call('g', '{}', { id: 'b', signature: 'T' }),
      );
      expect(partsOf(stream)).toEqual([
        reasoning('', 'S'),
        toolCall('a', 'f', '{}'),
        reasoning('', 'T'),
        toolCall('b', 'g', '{}'),
      ]);
    });

    it('of text precede it on its first part', () => {
      expect(partsOf(said(reasoningBlock('Hm.')) + ended('STOP', text('Yes.', 'S')))).toEqual([
        reasoning('Hm.', 'S'),
        words('Yes.'),
      ]);
      expect(partsOf(ended('STOP', text('Yes.', 'S')))).toEqual([reasoning('', 'S'), words('Yes.')]);
    });

    it('of text follow it after its start, also on a final empty part', () => {
      const behind = [words('Yes.'), reasoning('', 'S')];
      expect(partsOf(said(text('Ye')) + ended('STOP', text('s.', 'S')))).toEqual(behind);
      expect(partsOf(said(text('Yes.')) + ended('STOP', text('', 'S')))).toEqual(behind);
    });

    it('of unknown parts are kept', () => {
      const stream =
        said(text('Look.')) +
        ended('STOP', '{"inlineData":{"mimeType":"image/png","data":"AA=="},"thoughtSignature":"S"}');
      expect(partsOf(stream)).toEqual([words('Look.'), reasoning('', 'S')]);
    });
  });

  it.each<[string, StopReason]>([
    ['STOP', 'end'],
    ['MAX_TOKENS', 'max_tokens'],
    ['SAFETY', 'content_filter'],
    ['RECITATION', 'content_filter'],
    ['BLOCKLIST', 'content_filter'],
    ['PROHIBITED_CONTENT', 'content_filter'],
    ['SPII', 'content_filter'],
    ['IMAGE_SAFETY', 'content_filter'],
    ['IMAGE_PROHIBITED_CONTENT', 'content_filter'],
    ['IMAGE_RECITATION', 'content_filter'],
    ['IMAGE_OTHER', 'content_filter'],
    ['LANGUAGE', 'end'],
    ['OTHER', 'end'],
    ['SOMETHING_NEW', 'end'],
  ])('maps %s to %s', (reason, stop) => {
    expect(responseOf(said(text('Hi')) + ended(reason))).toMatchObject({ stop, parts: [words('Hi')] });
  });

  it.each(['MALFORMED_FUNCTION_CALL', 'UNEXPECTED_TOOL_CALL', 'TOO_MANY_TOOL_CALLS', 'MALFORMED_RESPONSE'])(
    'fails with %s, allowing failover',
    (reason) => {
      const error = refusalOf(() => eventsOf(ended(reason)));
      expect(error).toMatchObject({ kind: 'upstream_error', details: { failover: true } });
      expect(error.message).toContain(reason);
    },
  );

  it('reports blocked prompts as filtered', () => {
    const stream = event(
      '"promptFeedback":{"blockReason":"PROHIBITED_CONTENT"},"usageMetadata":{"promptTokenCount":9}',
    );
    expect(responseOf(stream)).toMatchObject({ parts: [], stop: 'content_filter', usage: { input: 9, output: 0 } });
  });

  it('rejects a stream that closes without an end', () => {
    expect(refusalOf(() => eventsOf(said(text('Hi'))))).toMatchObject({ kind: 'upstream_truncated' });
    const unsaid = said(text('Hi')) + event(candidate([], ',"finishReason":"FINISH_REASON_UNSPECIFIED"'));
    expect(refusalOf(() => eventsOf(unsaid))).toMatchObject({ kind: 'upstream_truncated' });
  });

  it.each([
    'data: {"error":{"code":503,"message":"Overloaded.","status":"UNAVAILABLE"}}\n\n',
    'data: [{"error":{"code":503,"message":"Overloaded.","status":"UNAVAILABLE"}}]\n\n',
  ])('fails in the middle: %s', (failure) => {
    expect(refusalOf(() => eventsOf(said(text('Hi')) + failure))).toMatchObject({ kind: 'server_is_overloaded' });
  });

  it('fails on an unreadable event', () => {
    expect(refusalOf(() => eventsOf('data: {"candidates":[\n\n'))).toMatchObject({ kind: 'upstream_error' });
  });

  describe('web search', () => {
    const GROUNDING =
      ',"finishReason":"STOP","groundingMetadata":{"webSearchQueries":["a","b"],"groundingChunks":[{"web":{"uri":"https://a.example/1","title":"a.example"}},{"retrievedContext":{}}]}';
    const CITED = { ...words('So it is.'), annotations: [{ url: 'https://a.example/1', title: 'a.example' }] };
    const grounded = (...parts: readonly string[]): string =>
      event(`${candidate(parts, GROUNDING)},"usageMetadata":{"promptTokenCount":9}`);

    it('reports sources and number of searches', () => {
      const { parts, usage } = responseOf(said(text('So it is')) + grounded(text('.')));
      expect(parts).toEqual([CITED]);
      expect(usage?.toolUses).toEqual({ web_search: 2 });
    });

    it('reports each source once, also if a signature ends the text', () => {
      const first = event(candidate([text('So it is.')], GROUNDING.replace('"finishReason":"STOP",', '')));
      expect(partsOf(first + grounded(text('', 'S')))).toEqual([CITED, reasoning('', 'S')]);
      expect(partsOf(said(text('So it is.')) + grounded(text('', 'S')))).toEqual([CITED, reasoning('', 'S')]);
      expect(partsOf(grounded(text('So it is.'), text('', 'S')))).toEqual([CITED, reasoning('', 'S')]);
    });

    it('cites the following text when found while reasoning', () => {
      const found = event(candidate([reasoningBlock('Hm.')], GROUNDING.replace('"finishReason":"STOP",', '')));
      expect(partsOf(found + ended('STOP', text('So it is.')))).toEqual([reasoning('Hm.'), CITED]);
    });
  });
});

describe('unstreamed Gemini responses', () => {
  it('are decoded like chunks', () => {
    const parts = [reasoningBlock('Hm.'), text('I ask.'), call('f', '{"n":1.0}', { id: 'a', signature: 'S' })];
    const members = `${candidate(parts, ',"finishReason":"STOP"')},"usageMetadata":{"promptTokenCount":9,"candidatesTokenCount":2}`;
    expect(wholeOf(members)).toEqual({
      parts: [reasoning('Hm.'), words('I ask.'), reasoning('', 'S'), toolCall('a', 'f', '{"n":1.0}')],
      stop: 'tool_calls',
      sequence: undefined,
      usage: { ...NO_TOKENS, input: 9, output: 2, serviceTier: 'standard' },
    });
  });

  it('are complete without a finish reason', () => {
    expect(wholeOf(candidate([text('Hi')]))).toMatchObject({ parts: [words('Hi')], stop: 'end' });
  });

  it('are filtered when the prompt is blocked', () => {
    expect(wholeOf('"promptFeedback":{"blockReason":"SAFETY"}')).toMatchObject({ parts: [], stop: 'content_filter' });
  });

  it.each([
    ['{"error":{"code":429,"message":"Slow down.","status":"RESOURCE_EXHAUSTED"}}', 'rate_limit_exceeded'],
    ['{"choices":[]}', 'upstream_error'],
    ['{"candidates":[', 'upstream_error'],
    ['"Hello"', 'upstream_error'],
  ])('fail if they are no responses: %s', (body, kind) => {
    expect(refusalOf(() => upstream.decodeResponse(body, aContent(), aTarget())).kind).toBe(kind);
  });
});
