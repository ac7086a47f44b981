import { expectMessagesStream } from '../../../test/conformance/protocols/messages/grammar.js';
import { readEvents } from '../../../test/support/stream-text.js';
import { aRenderContext } from '../../../test/support/translations.js';
import { AppError, type JsonObject } from '../../platform/shared/index.js';
import {
  type CallEvent,
  type CallResult,
  eventsOf,
  NO_TOKENS,
  type OpaqueReasoning,
  type ResponsePart,
  type StopReason,
} from '../contract/index.js';
import { MessagesProtocol } from './protocol.js';

const protocol = new MessagesProtocol();
const HELLO = { model: 'alias', max_tokens: 9, messages: [{ role: 'user', content: 'Hello' }] };
const SHOWN = { thinking: { type: 'adaptive' } };
const SEALED = { thinking: { type: 'adaptive', display: 'omitted' } };

const PROMPT = 21;

const written = (events: readonly CallEvent[], members: object = SHOWN): string[] => {
  const renderer = protocol.renderStream(aRenderContext(protocol, { ...HELLO, ...members }, PROMPT));
  return events.map((event) => renderer.next(event));
};

/** Event data of a stream of these parts, checked against the grammar. */
function streamed(response: Partial<CallResult>, members?: object): JsonObject[] {
  const whole: CallResult = { parts: [], stop: 'end', usage: undefined, ...response };
  const events = readEvents(written([...eventsOf(whole)], members).join(''));
  expectMessagesStream(events);
  return events.map(({ data }) => JSON.parse(data) as JsonObject);
}

const blocksOf = (parts: readonly ResponsePart[], members?: object): JsonObject[] =>
  streamed({ parts }, members).slice(1, -2);

const whole = (response: Partial<CallResult>, members: object = SHOWN): JsonObject => {
  const context = aRenderContext(protocol, { ...HELLO, ...members });
  return JSON.parse(
    protocol.renderResponse({ parts: [], stop: 'end', usage: undefined, ...response }, context),
  ) as JsonObject;
};

const call = (json: string, id = 'call_1'): ResponsePart => ({ kind: 'tool-call', id, name: 'get', arguments: json });
const reasoningBlock = (text: string, opaque?: OpaqueReasoning): ResponsePart => ({
  kind: 'reasoning',
  text,
  ...(opaque && { opaque }),
});
const opaque = (kind: OpaqueReasoning['kind']): OpaqueReasoning => ({ kind, family: 'f', data: 'd', text: '' });
const sealOf = (kind: string): string => `rly1.${JSON.stringify([kind, 'f', 'd', ''])}`;

const began = (index: number, content_block: object): object => ({ type: 'content_block_start', index, content_block });
const delta = (index: number, type: string, member: string, text: string): object => ({
  type: 'content_block_delta',
  index,
  delta: { type, [member]: text },
});
const ended = (index: number): object => ({ type: 'content_block_stop', index });
const ZERO = {
  input_tokens: 0,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
  cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 },
  output_tokens: 0,
};

describe('Messages stream rendering', () => {
  it('renders text as it arrives, in named events (cases 23 and 31)', () => {
    const events: CallEvent[] = [
      { type: 'call-start' },
      { type: 'part-start', start: { kind: 'text' } },
      { type: 'part-delta', text: 'Hel"\u2028' },
      { type: 'part-delta', text: 'lo' },
      { type: 'part-end', part: { kind: 'text', text: 'Hel"\u2028lo' } },
      { type: 'call-stop', reason: 'end' },
      { type: 'usage-update', usage: { ...NO_TOKENS, input: 9, output: 2 } },
      { type: 'call-end' },
    ];
    const [start, ...pieces] = written(events);
    expect(readEvents(start!)).toEqual([
      {
        event: 'message_start',
        data: `{"type":"message_start","message":${JSON.stringify({
          id: 'msg_1',
          type: 'message',
          role: 'assistant',
          model: 'alias',
          content: [],
          stop_reason: null,
          stop_sequence: null,
          stop_details: null,
          container: null,
          usage: { ...ZERO, input_tokens: PROMPT },
        })}}`,
      },
    ]);
    expect(pieces).toEqual([
      '',
      'event: content_block_start\ndata: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}\n\n' +
        'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hel\\"\u2028"}}\n\n',
      'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"lo"}}\n\n',
      'event: content_block_stop\ndata: {"type":"content_block_stop","index":0}\n\n',
      '',
      '',
      `event: message_delta\ndata: {"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null,"stop_details":null},"usage":${JSON.stringify({ ...ZERO, input_tokens: 9, output_tokens: 2 })}}\n\n` +
        'event: message_stop\ndata: {"type":"message_stop"}\n\n',
    ]);
  });

  it('omits empty blocks and numbers the others consecutively (cases 27 and 32)', () => {
    expect(blocksOf([])).toEqual([]);
    const parts = [
      { kind: 'text', text: '' },
      call('{}', 'a'),
      { kind: 'refusal', text: '' },
      reasoningBlock(''),
      { kind: 'text', text: 'x' },
    ] as const;
    expect(blocksOf(parts)).toEqual([
      began(0, { type: 'tool_use', id: 'a', name: 'get', input: {} }),
      ended(0),
      began(1, { type: 'text', text: '' }),
      delta(1, 'text_delta', 'text', 'x'),
      ended(1),
    ]);
  });

  it('switches between text and calls, one block at a time (cases 46 and 47)', () => {
    const parts = [
      { kind: 'text', text: 'a' },
      call('{"x":1}', 'a'),
      call('{}', 'b'),
      { kind: 'text', text: 'b' },
    ] as const;
    expect(blocksOf(parts).map(({ type, index }) => `${String(type)} ${String(index)}`)).toEqual([
      'content_block_start 0',
      'content_block_delta 0',
      'content_block_stop 0',
      'content_block_start 1',
      'content_block_delta 1',
      'content_block_stop 1',
      'content_block_start 2',
      'content_block_stop 2',
      'content_block_start 3',
      'content_block_delta 3',
      'content_block_stop 3',
    ]);
  });

  it.each([
    [['{', '}'], []],
    [['{}'], []],
    [['{'], ['{']],
    [
      ['{', '"a":', '1}'],
      ['{"a":', '1}'],
    ],
    [
      ['{"a":{', '}', '}'],
      ['{"a":{', '}', '}'],
    ],
    [[' {}'], [' {}']],
  ])('renders arguments as they arrive, and none for empty ones: %j (cases 45, 48 and 53)', (pieces, reported) => {
    const events: CallEvent[] = [
      { type: 'call-start' },
      { type: 'part-start', start: { kind: 'tool-call', id: 'a', name: 'get' } },
      ...pieces.map((text): CallEvent => ({ type: 'part-delta', text })),
      { type: 'part-end', part: call(pieces.join(''), 'a') },
    ];
    const sent = readEvents(written(events).join('')).map(({ data }) => JSON.parse(data) as { delta?: JsonObject });
    expect(sent.flatMap((event) => (event.delta ? [event.delta] : []))).toEqual(
      reported.map((partial_json) => ({ type: 'input_json_delta', partial_json })),
    );
  });

  it('renders reasoning with its signature if requested (cases 80, 82 and 86)', () => {
    const parts = [
      reasoningBlock('Let me see', opaque('encrypted')),
      reasoningBlock('', opaque('text')),
      reasoningBlock('Unsealed'),
    ];
    expect(blocksOf(parts)).toEqual([
      began(0, { type: 'thinking', thinking: '', signature: '' }),
      delta(0, 'thinking_delta', 'thinking', 'Let me see'),
      delta(0, 'signature_delta', 'signature', sealOf('encrypted')),
      ended(0),
      began(1, { type: 'thinking', thinking: '', signature: '' }),
      delta(1, 'signature_delta', 'signature', sealOf('text')),
      ended(1),
      began(2, { type: 'thinking', thinking: '', signature: '' }),
      delta(2, 'thinking_delta', 'thinking', 'Unsealed'),
      ended(2),
    ]);
    expect(blocksOf(parts, SEALED)).toEqual([
      began(0, { type: 'thinking', thinking: '', signature: '' }),
      delta(0, 'signature_delta', 'signature', sealOf('encrypted')),
      ended(0),
      began(1, { type: 'thinking', thinking: '', signature: '' }),
      delta(1, 'signature_delta', 'signature', sealOf('text')),
      ended(1),
    ]);
    expect(blocksOf(parts, {})).toEqual([]);
  });

  it('renders redacted reasoning as a block (case 81)', () => {
    const data = sealOf('redacted');
    expect(blocksOf([reasoningBlock('', opaque('redacted'))])).toEqual([
      began(0, { type: 'redacted_thinking', data }),
      ended(0),
    ]);
    expect(whole({ parts: [reasoningBlock('', opaque('redacted'))] })['content']).toEqual([
      { type: 'redacted_thinking', data },
    ]);
  });

  it.each<[StopReason, string]>([
    ['end', 'end_turn'],
    ['tool_calls', 'tool_use'],
    ['max_tokens', 'max_tokens'],
    ['context', 'model_context_window_exceeded'],
    ['stop_sequence', 'stop_sequence'],
    ['pause', 'pause_turn'],
  ])('maps the stop reason %s to %s, streamed or not (cases 33, 34 and 43)', (stop, stop_reason) => {
    const sequence = stop === 'stop_sequence' ? 'END' : undefined;
    const ending = { stop_reason, stop_sequence: sequence ?? null, stop_details: null };
    expect(streamed({ stop, sequence }).at(-2)?.['delta']).toEqual(ending);
    expect(whole({ stop, sequence })).toMatchObject(ending);
  });

  it.each<StopReason>(['refusal', 'content_filter'])(
    'renders refusals as text and reason: %s (cases 41 and 42)',
    (stop) => {
      const parts: ResponsePart[] = [{ kind: 'refusal', text: 'I may not.' }];
      const ending = { stop_reason: 'refusal', stop_details: { type: 'refusal', category: null, explanation: null } };
      expect(streamed({ parts, stop })[2]).toEqual(delta(0, 'text_delta', 'text', 'I may not.'));
      expect(streamed({ parts, stop }).at(-2)?.['delta']).toMatchObject(ending);
      expect(whole({ parts, stop })).toMatchObject({ content: [{ type: 'text', text: 'I may not.' }], ...ending });
    },
  );

  it('reports cached tokens separately at the end (case 89)', () => {
    const usage = {
      input: 100,
      cacheRead: 40,
      cacheWrite: 10,
      cacheWrite1h: 5,
      output: 7,
      reasoning: 3,
      toolUses: { web_search: 2 },
    };
    const wire = {
      input_tokens: 45,
      cache_creation_input_tokens: 15,
      cache_read_input_tokens: 40,
      cache_creation: { ephemeral_5m_input_tokens: 10, ephemeral_1h_input_tokens: 5 },
      output_tokens: 7,
      output_tokens_details: { thinking_tokens: 3 },
      server_tool_use: { web_search_requests: 2 },
    };
    const events = streamed({ usage });
    expect(events[0]).toMatchObject({ message: { usage: { ...ZERO, input_tokens: PROMPT } } });
    expect(events.at(-2)?.['usage']).toEqual(wire);
    expect(whole({ usage })['usage']).toEqual(wire);
  });

  it('ends a failed stream with an error (case 98)', () => {
    const renderer = protocol.renderStream(aRenderContext(protocol, HELLO));
    renderer.next({ type: 'call-start' });
    const [error, ...more] = readEvents(renderer.fail(new AppError('upstream_truncated', 'It broke.')));
    expect(more).toEqual([]);
    expect(error?.event).toBe('error');
    expect(JSON.parse(error?.data ?? '')).toEqual({
      type: 'error',
      error: { type: 'api_error', message: 'It broke. (request id: req_1)' },
      request_id: 'req_1',
    });
  });
});

describe('unstreamed Messages rendering', () => {
  it('renders a message', () => {
    const parts: ResponsePart[] = [
      reasoningBlock('Let me see', opaque('signature')),
      { kind: 'text', text: 'Hi', annotations: [{ url: 'https://e.example', title: 'E' }] },
      { kind: 'text', text: '' },
      call('{"a": 1}'),
    ];
    expect(whole({ parts, stop: 'tool_calls' })).toEqual({
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'alias',
      content: [
        { type: 'thinking', thinking: 'Let me see', signature: sealOf('signature') },
        // Citations here are signed by the vendor.
        { type: 'text', text: 'Hi', citations: null },
        { type: 'tool_use', id: 'call_1', name: 'get', input: { a: 1 } },
      ],
      stop_reason: 'tool_use',
      stop_sequence: null,
      stop_details: null,
      container: null,
      usage: ZERO,
    });
  });

  it('renders reasoning only if requested (cases 82 and 88)', () => {
    const parts = [reasoningBlock('Let me see', opaque('signature')), reasoningBlock('Unsealed'), reasoningBlock('')];
    expect(whole({ parts }, {})['content']).toEqual([]);
    expect(whole({ parts }, SEALED)['content']).toEqual([
      { type: 'thinking', thinking: '', signature: sealOf('signature') },
    ]);
    expect(whole({ parts })['content']).toHaveLength(2);
  });

  it.each([['{"a":'], ['[1]'], ['"x"'], ['']])(
    'replaces invalid arguments with an empty object and warns: %s (case 55)',
    (json) => {
      const context = aRenderContext(protocol, HELLO);
      const response = protocol.renderResponse({ parts: [call(json)], stop: 'tool_calls', usage: undefined }, context);
      expect(JSON.parse(response)).toMatchObject({ content: [{ input: {} }] });
      expect(context.warnings.header).toBe('invalid_arguments:content');
    },
  );

  it('keeps arguments as text, with numbers of any size (case 54)', () => {
    const context = aRenderContext(protocol, HELLO);
    const json = '{"n": 9007199254740993,"s":"\\u2028"}';
    const response: CallResult = { parts: [call(json)], stop: 'tool_calls', usage: undefined };
    expect(protocol.renderResponse(response, context)).toContain(`"input":${json}`);
    expect(context.warnings.header).toBeUndefined();
  });
});
