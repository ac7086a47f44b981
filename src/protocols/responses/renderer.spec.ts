import {
  expectResponse,
  expectResponsesFailure,
  expectResponsesStream,
} from '../../../test/conformance/protocols/responses/grammar.js';
import { aCall } from '../../../test/support/calls.js';
import { readEvents } from '../../../test/support/stream-text.js';
import { aRenderContext, checked, contentOf, treeOf } from '../../../test/support/translations.js';
import { AppError, type JsonObject } from '../../platform/shared/index.js';
import {
  type CallEvent,
  type CallResult,
  eventsOf,
  type OpaqueReasoning,
  type ResponsePart,
  TranslationWarnings,
} from '../contract/index.js';
import { ResponsesProtocol } from './protocol.js';

const protocol = new ResponsesProtocol();
const least = { model: 'm', input: 'Hi', stream: true };
const USAGE = { input: 9, cacheRead: 4, cacheWrite: 1, cacheWrite1h: 2, output: 7, reasoning: 3 };
const HI: ResponsePart = { kind: 'text', text: 'Hi' };
const OPAQUE: OpaqueReasoning = { kind: 'signature', family: 'f', data: 'sig', text: 'Compare both.' };

const answer = (parts: readonly ResponsePart[], overrides: Partial<CallResult> = {}): CallEvent[] =>
  checked([...eventsOf({ parts, stop: 'end', usage: USAGE, ...overrides })]);

/** Data of each event without the final marker. */
function rendered(events: readonly CallEvent[], body: object = {}): JsonObject[] {
  const renderer = protocol.renderStream(aRenderContext(protocol, { ...least, ...body }));
  const read = readEvents(events.map((event) => renderer.next(event)).join(''));
  expectResponsesStream(read);
  return read.slice(0, -1).map(({ data }) => JSON.parse(data) as JsonObject);
}

const whole = (result: CallResult, body: object = {}): JsonObject => {
  const response = JSON.parse(
    protocol.renderResponse(result, aRenderContext(protocol, { ...least, ...body })),
  ) as JsonObject;
  expectResponse(response);
  return response;
};

/** The response in the final event. */
const ended = (events: readonly CallEvent[], body?: object): JsonObject => {
  const last = rendered(events, body).at(-1);
  return last?.['response'] as JsonObject;
};

/** Types without prefix, with their subject. */
const lines = (events: readonly JsonObject[]): unknown[] =>
  events.map(({ type, delta, text, item, arguments: input }) => [
    String(type).replace('response.', ''),
    ...[delta ?? text ?? input ?? (item as JsonObject | undefined)?.['type']].filter((value) => value !== undefined),
  ]);

const toolCall = (id: string, overrides: object = {}): ResponsePart => ({
  kind: 'tool-call',
  id,
  name: 'get_weather',
  arguments: '{"city":"Oslo"}',
  ...overrides,
});

describe('Responses stream rendering', () => {
  it('renders text (cases 25 and 31)', () => {
    const events = rendered([
      { type: 'call-start' },
      { type: 'part-start', start: { kind: 'text' } },
      { type: 'part-delta', text: 'Hel' },
      { type: 'part-delta', text: 'lo' },
      { type: 'part-end', part: { kind: 'text', text: 'Hello' } },
      { type: 'call-stop', reason: 'end' },
      { type: 'usage-update', usage: USAGE },
      { type: 'call-end' },
    ]);
    const place = { item_id: 'msg_10000', output_index: 0, content_index: 0 };
    const part = { type: 'output_text', text: 'Hello', annotations: [] };
    const message = { type: 'message', id: 'msg_10000', role: 'assistant' };
    expect(events.slice(2, -1)).toEqual([
      {
        type: 'response.output_item.added',
        sequence_number: 2,
        output_index: 0,
        item: { ...message, status: 'in_progress', content: [] },
      },
      { type: 'response.content_part.added', sequence_number: 3, ...place, part: { ...part, text: '' } },
      { type: 'response.output_text.delta', sequence_number: 4, ...place, delta: 'Hel', logprobs: [] },
      { type: 'response.output_text.delta', sequence_number: 5, ...place, delta: 'lo', logprobs: [] },
      { type: 'response.output_text.done', sequence_number: 6, ...place, text: 'Hello', logprobs: [] },
      { type: 'response.content_part.done', sequence_number: 7, ...place, part },
      {
        type: 'response.output_item.done',
        sequence_number: 8,
        output_index: 0,
        item: { ...message, status: 'completed', content: [part] },
      },
    ]);
    expect(events.at(-1)).toMatchObject({
      type: 'response.completed',
      response: {
        id: 'resp_1',
        created_at: 1,
        model: 'm',
        status: 'completed',
        output: [{ ...message, status: 'completed', content: [part] }],
        usage: {
          input_tokens: 9,
          input_tokens_details: { cached_tokens: 4, cache_write_tokens: 3 },
          output_tokens: 7,
          output_tokens_details: { reasoning_tokens: 3 },
          total_tokens: 16,
        },
      },
    });
  });

  it('renders parallel calls one after the other (case 46)', () => {
    const events = rendered(
      answer([toolCall('call_9'), toolCall('call_10', { arguments: '{}' })], { stop: 'tool_calls' }),
    );
    expect(lines(events.slice(2, -1))).toEqual([
      ['output_item.added', 'function_call'],
      ['function_call_arguments.delta', '{"city":"Oslo"}'],
      ['function_call_arguments.done', '{"city":"Oslo"}'],
      ['output_item.done', 'function_call'],
      ['output_item.added', 'function_call'],
      ['function_call_arguments.delta', '{}'],
      ['function_call_arguments.done', '{}'],
      ['output_item.done', 'function_call'],
    ]);
    expect(events[4]).toMatchObject({ item_id: 'fc_10000', output_index: 0, name: 'get_weather' });
    expect(events[6]?.['item']).toMatchObject({ call_id: 'call_10', arguments: '', status: 'in_progress' });
    expect(events.at(-1)?.['response']).toMatchObject({ status: 'completed' });
  });

  it('renders namespaced and freeform calls (cases 61 and 62)', () => {
    const parts = [toolCall('c1', { namespace: 'agents' }), toolCall('c2', { arguments: 'ls -l', isFreeform: true })];
    const events = rendered(answer(parts, { stop: 'tool_calls' }));
    expect(events.filter(({ type }) => type === 'response.output_item.done').map(({ item }) => item)).toEqual([
      {
        type: 'function_call',
        id: 'fc_10000',
        call_id: 'c1',
        namespace: 'agents',
        name: 'get_weather',
        arguments: '{"city":"Oslo"}',
        status: 'completed',
      },
      {
        type: 'custom_tool_call',
        id: 'ctc_10001',
        call_id: 'c2',
        name: 'get_weather',
        input: 'ls -l',
        status: 'completed',
      },
    ]);
    expect(lines(events)).toContainEqual(['custom_tool_call_input.delta', 'ls -l']);
  });

  it('marks a truncated call as incomplete (case 53)', () => {
    const events = rendered(answer([toolCall('c1', { arguments: '{"city":"Os' })], { stop: 'max_tokens' }));
    expect(events.at(-2)).toMatchObject({
      type: 'response.output_item.done',
      item: { arguments: '{"city":"Os', status: 'incomplete' },
    });
    expect(events.at(-1)).toMatchObject({
      type: 'response.incomplete',
      response: { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } },
    });
  });

  it('renders adjacent texts and refusals as one message, and later ones as another (case 47)', () => {
    const parts: ResponsePart[] = [
      { kind: 'text', text: 'One' },
      { kind: 'refusal', text: 'No.' },
      toolCall('c1'),
      { kind: 'text', text: 'Two' },
    ];
    expect(ended(answer(parts))['output']).toMatchObject([
      {
        type: 'message',
        content: [
          { type: 'output_text', text: 'One' },
          { type: 'refusal', refusal: 'No.' },
        ],
      },
      { type: 'function_call' },
      { type: 'message', content: [{ type: 'output_text', text: 'Two' }] },
    ]);
  });

  it('renders citations', () => {
    const annotations = [{ url: 'https://example.com', title: 'Example' }];
    const events = rendered(answer([{ kind: 'text', text: 'So it is.', annotations }]));
    const citation = { type: 'url_citation', start_index: 0, end_index: 0, ...annotations[0] };
    expect(events).toContainEqual(expect.objectContaining({ annotation_index: 0, annotation: citation }));
    expect(events.at(-2)).toMatchObject({ item: { content: [{ annotations: [citation] }] } });
  });

  it('renders an empty response without items (case 32)', () => {
    const events = rendered(
      answer([
        { kind: 'text', text: '' },
        { kind: 'reasoning', text: '' },
      ]),
      { store: false },
    );
    expect(lines(events)).toEqual([['created'], ['in_progress'], ['completed']]);
    expect(events.at(-1)?.['response']).toMatchObject({ output: [] });
  });

  it('omits an empty text after another', () => {
    const annotations = [{ url: 'https://example.com', title: 'Example' }];
    const parts: ResponsePart[] = [HI, toolCall('c1'), { kind: 'text', text: '', annotations }];
    expect(ended(answer(parts))['output']).toMatchObject([{ type: 'message' }, { type: 'function_call' }]);
  });

  it.each([
    ['stop_sequence', 'completed', null],
    ['refusal', 'completed', null],
    ['pause', 'completed', null],
    ['context', 'incomplete', { reason: 'max_output_tokens' }],
    ['content_filter', 'incomplete', { reason: 'content_filter' }],
  ] as const)('maps the stop reason %s to %s (cases 33, 41 and 43)', (stop, status, incomplete_details) => {
    const events = rendered(answer([], { stop }));
    expect(events.at(-1)).toMatchObject({ type: `response.${status}`, response: { status, incomplete_details } });
    const context = aRenderContext(protocol, least);
    protocol.renderResponse({ parts: [], stop, usage: USAGE }, context);
    expect(context.warnings.header).toBe(stop === 'pause' ? 'paused:status' : undefined);
  });

  it('renders the final event with late usage', () => {
    const renderer = protocol.renderStream(aRenderContext(protocol, least));
    const texts = answer([{ kind: 'text', text: 'Hi' }]).map((event) => renderer.next(event));
    expect(texts.slice(0, -1).join('')).not.toContain('response.completed');
    expect(texts.at(-1)).toMatch(/^event: response\.completed\ndata: .*"input_tokens":9.*\n\ndata: \[DONE\]\n\n$/);
  });

  it('renders usage even if unreported (case 93)', () => {
    expect(ended(answer([], { usage: undefined }))['usage']).toMatchObject({
      input_tokens: 0,
      output_tokens: 0,
      total_tokens: 0,
    });
  });
});

describe('Responses reasoning rendering', () => {
  const parts: ResponsePart[] = [
    { kind: 'reasoning', text: 'Compare both.', opaque: OPAQUE },
    { kind: 'text', text: '42' },
  ];
  const sealed = `rly1.${JSON.stringify(['signature', 'f', 'sig', 'Compare both.'])}`;

  it('renders a summary and no other events (case 86)', () => {
    const events = rendered(answer(parts), { reasoning: { summary: 'auto' } });
    const place = { item_id: 'rs_10000', output_index: 0, summary_index: 0 };
    const part = { type: 'summary_text', text: 'Compare both.' };
    const item = { type: 'reasoning', id: 'rs_10000', summary: [part], encrypted_content: sealed };
    expect(events.slice(2, 8)).toEqual([
      {
        type: 'response.output_item.added',
        sequence_number: 2,
        output_index: 0,
        item: { ...item, summary: [], encrypted_content: undefined },
      },
      { type: 'response.reasoning_summary_part.added', sequence_number: 3, ...place, part: { ...part, text: '' } },
      { type: 'response.reasoning_summary_text.delta', sequence_number: 4, ...place, delta: 'Compare both.' },
      { type: 'response.reasoning_summary_text.done', sequence_number: 5, ...place, text: 'Compare both.' },
      { type: 'response.reasoning_summary_part.done', sequence_number: 6, ...place, part },
      { type: 'response.output_item.done', sequence_number: 7, output_index: 0, item },
    ]);
    expect(events[8]).toMatchObject({ output_index: 1, item: { type: 'message', id: 'msg_10001' } });
  });

  it('renders only encrypted content if hidden (cases 79 and 82)', () => {
    const events = rendered(answer(parts), { store: false });
    expect(lines(events.slice(2, 4))).toEqual([
      ['output_item.added', 'reasoning'],
      ['output_item.done', 'reasoning'],
    ]);
    expect(events[3]?.['item']).toEqual({ type: 'reasoning', id: 'rs_10000', summary: [], encrypted_content: sealed });
  });

  it('omits hidden reasoning without encrypted content (case 88)', () => {
    const unsealed = answer([{ kind: 'reasoning', text: 'Compare both.' }]);
    expect(lines(rendered(unsealed, { store: false }))).not.toContainEqual(['output_item.added', 'reasoning']);
  });

  it('renders redacted reasoning without summary (case 81)', () => {
    const redacted = { ...OPAQUE, kind: 'redacted', text: '' } as const;
    const events = rendered(answer([{ kind: 'reasoning', text: '', opaque: redacted }]), {
      reasoning: { summary: 'auto' },
    });
    expect(events[3]?.['item']).toMatchObject({ summary: [], encrypted_content: expect.stringContaining('redacted') });
  });
});

describe('failed Responses streams', () => {
  it('contain finished items, leave others open and continue the numbers (cases 25 and 98)', () => {
    const renderer = protocol.renderStream(aRenderContext(protocol, { ...least, temperature: 0.5 }));
    const events: CallEvent[] = [
      { type: 'call-start' },
      { type: 'usage-update', usage: USAGE, isProvisional: true },
      { type: 'part-start', start: { kind: 'tool-call', id: 'c1', name: 'f' } },
      { type: 'part-delta', text: '{}' },
      { type: 'part-end', part: { kind: 'tool-call', id: 'c1', name: 'f', arguments: '{}' } },
      { type: 'part-start', start: { kind: 'text' } },
      { type: 'part-delta', text: 'Hel' },
    ];
    const before = readEvents(events.map((event) => renderer.next(event)).join(''));
    const ending = readEvents(renderer.fail(new AppError('upstream_truncated', 'The upstream closed the stream.')));
    expectResponsesFailure(before, ending);
    expect(JSON.parse(ending[1]?.data ?? '')).toMatchObject({
      response: {
        status: 'failed',
        temperature: 0.5,
        output: [{ type: 'function_call', status: 'completed' }],
        error: { code: 'server_error', message: 'The upstream closed the stream. (request id: req_1)' },
        usage: { input_tokens: 9 },
      },
    });
  });
});

describe('response objects', () => {
  const settings = {
    instructions: 'Be brief.',
    max_output_tokens: 50,
    max_tool_calls: 3,
    temperature: 0.5,
    top_p: null,
    tools: [{ type: 'function', name: 'f', parameters: { '10': {}, '2': 9 } }, { type: 'web_search' }],
    tool_choice: 'required',
    parallel_tool_calls: false,
    text: { format: { type: 'json_object' }, verbosity: 'low' },
    reasoning: { effort: 'low', summary: 'auto', context: 'x' },
    metadata: { a: 'b' },
    store: false,
    safety_identifier: 's',
    prompt_cache_key: 'k',
  };

  it("repeat the client's settings with defaults", () => {
    const response = whole({ parts: [], stop: 'end', usage: USAGE }, { ...settings, unknown: 1 });
    expect(response).not.toHaveProperty('unknown');
    expect(response).toMatchObject({
      ...settings,
      top_p: 1,
      reasoning: { effort: 'low', summary: 'auto' },
      tools: [{ type: 'function', name: 'f', description: null, strict: null }, { type: 'web_search' }],
      previous_response_id: null,
      truncation: 'disabled',
      service_tier: 'default',
      background: false,
    });
  });

  it('replace null by defaults', () => {
    const response = whole({ parts: [], stop: 'end', usage: USAGE }, { text: { format: null }, metadata: null });
    expect(response).toMatchObject({ text: { format: { type: 'text' } }, metadata: {} });
  });

  it('name the continued response', () => {
    const body = { previous_response_id: 'resp_0' };
    const call = aCall(protocol, { ...least, ...body });
    const context = { ...aRenderContext(protocol, least), call };
    const response = JSON.parse(
      protocol.renderResponse({ parts: [], stop: 'end', usage: USAGE }, context),
    ) as JsonObject;
    expect(response).toMatchObject(body);
  });

  it('repeat schemas as written (case 2)', () => {
    const schema = '{ "10":{},"2":9007199254740993 }';
    const body = `{"model":"m","input":"Hi","tools":[{"type":"function","name":"f","parameters":${schema}}]}`;
    const call = aCall(protocol, body);
    const request = treeOf(protocol, body);
    const content = contentOf(protocol, body);
    const context = {
      call,
      request,
      content,
      warnings: new TranslationWarnings(false),
      promptTokens: () => 1,
      seal: () => '',
    };
    expect(protocol.renderResponse({ parts: [], stop: 'end', usage: USAGE }, context)).toContain(schema);
  });

  it('are the response of unstreamed calls', () => {
    const parts: ResponsePart[] = [{ kind: 'text', text: 'Hello' }, toolCall('c1')];
    const streamed = ended(answer(parts, { stop: 'tool_calls' }));
    expect(whole({ parts, stop: 'tool_calls', usage: USAGE })).toEqual(streamed);
  });
});
