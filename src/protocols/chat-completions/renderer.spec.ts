import { expectChatStream } from '../../../test/conformance/protocols/chat-completions/grammar.js';
import { readData, readEvents } from '../../../test/support/stream-text.js';
import { aRenderContext, checked } from '../../../test/support/translations.js';
import { type CallResult, eventsOf, NO_TOKENS, type ResponsePart, type StopReason } from '../contract/index.js';
import { AppError, type JsonObject } from '../../platform/shared/index.js';
import { ChatCompletionsProtocol } from './protocol.js';

const protocol = new ChatCompletionsProtocol();
const HELLO = { model: 'alias', messages: [{ role: 'user', content: 'Hello' }] };
const LEGACY = { functions: [{ name: 'f' }] };
const ASKED = { stream_options: { include_usage: true } };
const P = '{"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"alias",';

const aResponse = (parts: readonly ResponsePart[], stop: StopReason = 'end'): CallResult => ({
  parts,
  stop,
  sequence: undefined,
  usage: { ...NO_TOKENS, input: 9, cacheRead: 4, cacheWrite: 1, cacheWrite1h: 1, output: 2, reasoning: 1 },
});
const text = (said: string): ResponsePart => ({ kind: 'text', text: said });
const call = (id: string, written = '{}'): ResponsePart => ({ kind: 'tool-call', id, name: 'f', arguments: written });

function streamed(response: CallResult, body: object = {}): string {
  const renderer = protocol.renderStream(aRenderContext(protocol, { ...HELLO, stream: true, ...body }));
  return checked([...eventsOf(response)])
    .map((event) => renderer.next(event))
    .join('');
}

const whole = (response: CallResult, body: object = {}): JsonObject =>
  JSON.parse(protocol.renderResponse(response, aRenderContext(protocol, { ...HELLO, ...body }))) as JsonObject;

interface Choice {
  readonly message: JsonObject;
  readonly finish_reason: string;
}

const choiceOf = (response: CallResult, body?: object): Choice =>
  (whole(response, body)['choices'] as readonly [Choice])[0];

/** Deltas of a stream, in order. */
const deltas = (stream: string): unknown[] =>
  readData(stream).flatMap((chunk) =>
    chunk === '[DONE]' ? [] : (chunk['choices'] as { delta: unknown }[]).map(({ delta }) => delta),
  );

describe('Chat Completions stream rendering', () => {
  it("matches the specification's transcript, with usage (cases 7 and 28)", () => {
    const renderer = protocol.renderStream(aRenderContext(protocol, { ...HELLO, stream: true, ...ASKED }));
    const choice = (delta: string, finish = 'null'): string =>
      `data: ${P}"choices":[{"index":0,"delta":{${delta}},"logprobs":null,"finish_reason":${finish}}],"usage":null}\n\n`;
    const said = [
      renderer.next({ type: 'call-start' }),
      renderer.next({ type: 'part-start', start: { kind: 'text' } }),
      renderer.next({ type: 'part-delta', text: 'Hel' }),
      renderer.next({ type: 'part-delta', text: 'lo' }),
      renderer.next({ type: 'part-end', part: text('Hello') }),
      renderer.next({ type: 'call-stop', reason: 'end' }),
      renderer.next({ type: 'usage-update', usage: { ...NO_TOKENS, input: 9, output: 2 } }),
    ];
    expect(said.join('')).toBe(
      choice('"role":"assistant","content":""') + choice('"content":"Hel"') + choice('"content":"lo"'),
    );
    expect(renderer.next({ type: 'call-end' })).toBe(
      `${choice('', '"stop"')}data: ${P}"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":2,"total_tokens":11,"prompt_tokens_details":{"cached_tokens":0},"completion_tokens_details":{"reasoning_tokens":0}}}\n\ndata: [DONE]\n\n`,
    );
  });

  it('omits usage unless requested', () => {
    expect(streamed(aResponse([text('a')]))).not.toContain('usage');
    expect(streamed(aResponse([text('a')]), { stream_options: { include_usage: false } })).not.toContain('usage');
    expectChatStream(readEvents(streamed(aResponse([text('a')]))), false);
  });

  it('numbers calls from 0 and names each once (case 46)', () => {
    const stream = streamed(aResponse([text('a'), call('x', '{"a":1}'), call('y')], 'tool_calls'), ASKED);
    expectChatStream(readEvents(stream), true);
    expect(deltas(stream)).toEqual([
      { role: 'assistant', content: '' },
      { content: 'a' },
      { tool_calls: [{ index: 0, id: 'x', type: 'function', function: { name: 'f', arguments: '' } }] },
      { tool_calls: [{ index: 0, function: { arguments: '{"a":1}' } }] },
      { tool_calls: [{ index: 1, id: 'y', type: 'function', function: { name: 'f', arguments: '' } }] },
      { tool_calls: [{ index: 1, function: { arguments: '{}' } }] },
      {},
    ]);
  });

  it('renders freeform calls in their own form (case 62)', () => {
    const freeform: ResponsePart = { kind: 'tool-call', id: 'x', name: 'exec', arguments: 'ls', isFreeform: true };
    expect(deltas(streamed(aResponse([freeform], 'tool_calls'))).slice(1, 3)).toEqual([
      { tool_calls: [{ index: 0, id: 'x', type: 'custom', custom: { name: 'exec', input: '' } }] },
      { tool_calls: [{ index: 0, custom: { input: 'ls' } }] },
    ]);
  });

  it('renders the legacy form, with one call, when requested (case 65)', () => {
    const stream = streamed(aResponse([call('x', '{"a":1}'), call('y')], 'tool_calls'), LEGACY);
    expect(deltas(stream).slice(1)).toEqual([
      { function_call: { name: 'f', arguments: '' } },
      { function_call: { arguments: '{"a":1}' } },
      {},
    ]);
    expect(stream).toContain('"finish_reason":"function_call"');
    expect(streamed(aResponse([text('a')]), LEGACY)).toContain('"finish_reason":"stop"');
  });

  it('renders reasoning, refusals and citations (case 42)', () => {
    const stream = streamed(
      aResponse(
        [
          { kind: 'reasoning', text: 'Hm.', opaque: { kind: 'signature', family: 'f', data: 'secret', text: 'Hm.' } },
          { kind: 'text', text: 'a', annotations: [{ url: 'https://a.example', title: 'A' }] },
          { kind: 'refusal', text: 'No.' },
        ],
        'refusal',
      ),
    );
    const citation = { start_index: 0, end_index: 0, url: 'https://a.example', title: 'A' };
    expect(deltas(stream).slice(1, -1)).toEqual([
      { reasoning_content: 'Hm.' },
      { content: 'a' },
      { annotations: [{ type: 'url_citation', url_citation: citation }] },
      { refusal: 'No.' },
    ]);
    expect(stream).not.toContain('secret');
    expect(stream).toContain('"finish_reason":"stop"');
  });

  it.each<[StopReason, string]>([
    ['end', 'stop'],
    ['stop_sequence', 'stop'],
    ['pause', 'stop'],
    ['max_tokens', 'length'],
    ['context', 'length'],
    ['content_filter', 'content_filter'],
    ['tool_calls', 'tool_calls'],
  ])('maps the stop reason %s to "%s" (cases 33, 34, 41 and 43)', (stop, finish) => {
    expect(streamed(aResponse([], stop))).toContain(`"finish_reason":"${finish}"`);
    const context = aRenderContext(protocol, HELLO);
    const response = JSON.parse(protocol.renderResponse(aResponse([], stop), context)) as { choices: [Choice] };
    expect(response.choices[0].finish_reason).toBe(finish);
    expect(context.warnings.header).toBe(stop === 'pause' ? 'paused:finish_reason' : undefined);
  });

  it('ends a failed stream with an error event, without reason and marker (case 98)', () => {
    const renderer = protocol.renderStream(aRenderContext(protocol, { ...HELLO, stream: true }));
    renderer.next({ type: 'call-start' });
    const ending = renderer.fail(new AppError('upstream_truncated', 'The upstream closed the stream.'));
    expect(readData(ending)).toEqual([
      {
        error: {
          message: 'The upstream closed the stream. (request id: req_1)',
          type: 'server_error',
          param: null,
          code: 'upstream_truncated',
        },
      },
    ]);
  });

  it('keeps every text unchanged on one line (case 54)', () => {
    const odd = 'a\r\n\u2028 "\\" é 😀 \ud800';
    const stream = streamed(aResponse([text(odd)]));
    expect(deltas(stream)[1]).toEqual({ content: odd });
    expect(readEvents(stream).every(({ event }) => event === undefined)).toBe(true);
  });
});

describe('unstreamed Chat Completions rendering', () => {
  it('contains all members that clients require', () => {
    expect(whole(aResponse([text('Hel'), text('lo')]))).toEqual({
      id: 'chatcmpl-1',
      object: 'chat.completion',
      created: 1,
      model: 'alias',
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: 'Hello', refusal: null },
          logprobs: null,
          finish_reason: 'stop',
        },
      ],
      usage: {
        prompt_tokens: 9,
        completion_tokens: 2,
        total_tokens: 11,
        prompt_tokens_details: { cached_tokens: 4, cache_write_tokens: 2 },
        completion_tokens_details: { reasoning_tokens: 1 },
      },
    });
  });

  it('has null content only if there is other output (case 32)', () => {
    expect(choiceOf(aResponse([])).message['content']).toBe('');
    expect(choiceOf(aResponse([call('x')], 'tool_calls')).message).toEqual({
      role: 'assistant',
      content: null,
      refusal: null,
      tool_calls: [{ id: 'x', type: 'function', function: { name: 'f', arguments: '{}' } }],
    });
    expect(choiceOf(aResponse([{ kind: 'refusal', text: 'No.' }], 'refusal')).message).toEqual({
      role: 'assistant',
      content: null,
      refusal: 'No.',
    });
  });

  it('renders reasoning, and calls in the requested form (case 65)', () => {
    const { message, finish_reason } = choiceOf(
      aResponse([{ kind: 'reasoning', text: 'Hm.' }, call('x', '{"a":1}')], 'tool_calls'),
      LEGACY,
    );
    expect(message).toEqual({
      role: 'assistant',
      content: null,
      refusal: null,
      reasoning_content: 'Hm.',
      function_call: { name: 'f', arguments: '{"a":1}' },
    });
    expect(finish_reason).toBe('function_call');
  });

  it('keeps arguments as written (cases 53 and 54)', () => {
    const written = '{"n":9007199254740993,"q":"\\ud800", "cut":"';
    const { message } = choiceOf(aResponse([call('x', written)], 'max_tokens'));
    expect(message['tool_calls']).toMatchObject([{ function: { arguments: written } }]);
  });
});
