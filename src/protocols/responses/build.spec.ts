import { aCall, refusalOf } from '../../../test/support/calls.js';
import { aContent, built, type Built } from '../../../test/support/translations.js';
import {
  type CallContent,
  type Part,
  RawJson,
  type TextPart,
  type Tool,
  TranslationWarnings,
  type Turn,
  type UpstreamTarget,
} from '../contract/index.js';
import { ResponsesProtocol } from './protocol.js';
import { ResponsesUpstream } from './upstream.js';

const upstream = new ResponsesUpstream();
const call = aCall(new ResponsesProtocol(), { model: 'alias', input: 'Hi' });

const build = (
  content: Partial<CallContent>,
  target: Partial<UpstreamTarget> = {},
  warnings?: TranslationWarnings,
): Built => built(upstream, { call, content: aContent(content) }, target, warnings);
const inputOf = (turns: readonly Turn[], target: Partial<UpstreamTarget> = {}): unknown =>
  build({ turns }, target).body['input'];
const ENCRYPTED = ['reasoning.encrypted_content'];
const text = (words: string): TextPart => ({ kind: 'text', text: words });
const hello: Turn = { role: 'user', parts: [text('Hello')] };

describe('Responses request building', () => {
  it('stores nothing upstream', () => {
    const { body, headers } = build({ reasoning: { show: 'none' } }, { model: 'vendor-m', stream: false });
    expect(body).toEqual({
      model: 'vendor-m',
      input: [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hello' }] }],
      stream: false,
      store: false,
    });
    expect(headers).toEqual({ 'content-type': 'application/json', accept: 'application/json' });
  });

  it('streams if the channel does', () => {
    const { body, headers } = build({}, { stream: true });
    expect([body['stream'], headers['accept']]).toEqual([true, 'text/event-stream']);
  });

  it('puts the lead into instructions or into the input (case 74)', () => {
    const lead = [
      { kind: 'text', text: 'A' },
      { kind: 'text', text: 'B' },
    ] as const;
    expect(build({ lead }).body['instructions']).toBe('A\n\nB');
    const { body } = build({ lead }, { flags: { systemInInput: true, developerRole: false } });
    expect(body['instructions']).toBeUndefined();
    expect(body['input']).toMatchObject([{ role: 'system' }, { role: 'system' }, { role: 'user' }]);
  });

  it('keeps later instructions in place', () => {
    expect(inputOf([hello, { role: 'system', parts: [text('Now!')] }])).toMatchObject([
      { role: 'user' },
      { role: 'developer', content: [{ type: 'input_text', text: 'Now!' }] },
    ]);
  });

  it('writes items for calls, results and reasoning, with messages between (cases 54, 64 and 67)', () => {
    const odd = `call:${'9'.repeat(81)}`;
    const input = inputOf([
      hello,
      {
        role: 'assistant',
        parts: [
          {
            kind: 'reasoning',
            text: 'Hm.',
            opaque: { kind: 'encrypted', family: 'f', data: 'gAAA', text: '', id: 'rs_7' },
          },
          text('See.'),
          { kind: 'tool-call', id: 'c1', name: 'f', arguments: '{"n":9007199254740993}' },
          { kind: 'tool-call', id: odd, name: 'patch', arguments: 'x', isFreeform: true },
        ],
      },
      {
        role: 'user',
        parts: [
          text('And?'),
          { kind: 'tool-result', id: odd, parts: [text('ok')], isError: true, isFreeform: true },
          { kind: 'tool-result', id: 'c1', parts: [], isError: false },
        ],
      },
    ]) as Record<string, unknown>[];
    const id = input[4]?.['call_id'];
    expect(id).toMatch(/^call_9{50}_[0-9a-f]{8}$/);
    expect(input.slice(1)).toEqual([
      { type: 'reasoning', id: 'rs_7', summary: [{ type: 'summary_text', text: 'Hm.' }], encrypted_content: 'gAAA' },
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'See.', annotations: [] }] },
      { type: 'function_call', call_id: 'c1', name: 'f', arguments: '{"n":9007199254740993}' },
      { type: 'custom_tool_call', call_id: id, name: 'patch', input: 'x' },
      { type: 'function_call_output', call_id: 'c1', output: '' },
      { type: 'custom_tool_call_output', call_id: id, output: 'Error: ok' },
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'And?' }] },
    ]);
  });

  it.each([
    ['another family', { kind: 'encrypted', family: 'g', data: 'gAAA', text: '' }],
    ['a signature', { kind: 'signature', family: 'f', data: 'sig', text: 'Hm.' }],
    ['nobody', undefined],
  ] as const)('does not send reasoning of %s (cases 80 and 83)', (_, opaque) => {
    const input = inputOf([
      hello,
      { role: 'assistant', parts: [{ kind: 'reasoning', text: 'Hm.', opaque }, text('So.')] },
      hello,
    ]);
    expect(JSON.stringify(input)).not.toContain('reasoning');
  });

  it('sends images in results and all other parts of messages (case 70)', () => {
    const url = 'https://example.com/a.png';
    const parts: Part[] = [
      { kind: 'tool-result', id: 'c1', parts: [{ kind: 'image', source: { from: 'url', url } }], isError: false },
      { kind: 'image', source: { from: 'data', mediaType: 'image/png', base64: 'aWNvbg==' }, detail: 'high' },
      { kind: 'file', source: { from: 'data', mediaType: 'application/pdf', base64: 'cGRm' } },
      { kind: 'file', source: { from: 'url', url }, name: 'a.pdf' },
      { kind: 'file', source: { from: 'text', text: 'Long.' }, name: 'Title' },
      { kind: 'audio', format: 'wav', base64: 'd2F2' },
    ];
    const called: Turn = { role: 'assistant', parts: [{ kind: 'tool-call', id: 'c1', name: 'f', arguments: '{}' }] };
    expect(inputOf([hello, called, { role: 'user', parts }], { flags: { audio: true } })).toMatchObject([
      { role: 'user' },
      { type: 'function_call' },
      { type: 'function_call_output', output: [{ type: 'input_image', image_url: url, detail: 'auto' }] },
      {
        role: 'user',
        content: [
          { type: 'input_image', image_url: 'data:image/png;base64,aWNvbg==', detail: 'high' },
          { type: 'input_file', filename: 'document.pdf', file_data: 'data:application/pdf;base64,cGRm' },
          { type: 'input_file', file_url: url },
          { type: 'input_text', text: 'Title\nLong.' },
          { type: 'input_audio', input_audio: { data: 'd2F2', format: 'wav' } },
        ],
      },
    ]);
  });

  it('rejects unsupported content', () => {
    const audio: Turn = { role: 'user', parts: [{ kind: 'audio', format: 'wav', base64: 'd2F2' }] };
    const image: Turn = {
      role: 'user',
      parts: [{ kind: 'image', source: { from: 'url', url: 'https://example.com' } }],
    };
    expect(refusalOf(() => inputOf([audio])).details.param).toBe('input_audio');
    expect(refusalOf(() => inputOf([image], { flags: { imageUrl: false } })).details.param).toBe('image_url');
  });

  it('accepts any number of parts and messages', () => {
    const parts = Array.from({ length: 200_000 }, () => text('a'));
    const calls = Array.from({ length: 200_000 }, (_, index): Part => {
      return { kind: 'tool-call', id: `c${index}`, name: 'f', arguments: '{}' };
    });
    const input = inputOf([
      { role: 'user', parts },
      { role: 'assistant', parts: calls },
    ]) as { content: unknown[] }[];
    expect([input[0]?.content.length, input.length]).toEqual([200_000, 200_001]);
  });

  it('uses a placeholder for empty results if configured', () => {
    const turns: Turn[] = [
      hello,
      { role: 'assistant', parts: [{ kind: 'tool-call', id: 'c1', name: 'f', arguments: '{}' }] },
      { role: 'user', parts: [{ kind: 'tool-result', id: 'c1', parts: [], isError: false }] },
    ];
    expect(inputOf(turns, { flags: { emptyToolResultText: true } })).toContainEqual(
      expect.objectContaining({ output: '(no output)' }),
    );
  });

  it('sends a prefilled response with a warning (case 76)', () => {
    const { body, warnings } = build({ turns: [hello, { role: 'assistant', parts: [text('{')] }] });
    expect(body['input']).toMatchObject([{}, { role: 'assistant' }]);
    expect(warnings).toBe('prefill:messages');
  });
});

describe('Responses tools', () => {
  const schema = new RawJson('{"type":"object","properties":{"10":{},"2":{}}}');
  const tools: readonly Tool[] = [
    { name: 'f', schema, path: 'tools[0]' },
    {
      name: 'patch',
      description: 'P.',
      schema: undefined,
      freeform: { grammar: { syntax: 'lark', definition: 's' } },
      path: 'tools[1]',
    },
    { name: 'g.h', schema: undefined, strict: true, path: 'tools[2]' },
    { name: 'spawn', namespace: 'agents', namespaceDescription: 'Agents.', schema, path: 'tools[3].tools[0]' },
    { name: 'stop', namespace: 'agents', namespaceDescription: 'Agents.', schema, path: 'tools[3].tools[0]' },
  ];

  it('are strict only if requested, with schemas as written (cases 59, 60 and 63)', () => {
    const { body, text: written } = build({ tools, parallelTools: false });
    expect(body['tools']).toEqual([
      { type: 'function', name: 'f', parameters: schema.value, strict: false },
      {
        type: 'custom',
        name: 'patch',
        description: 'P.',
        format: { type: 'grammar', syntax: 'lark', definition: 's' },
      },
      {
        type: 'function',
        name: expect.stringMatching(/^g_h_[0-9a-f]{8}$/),
        parameters: { type: 'object', properties: {} },
        strict: true,
      },
      {
        type: 'namespace',
        name: 'agents',
        description: 'Agents.',
        tools: [
          { type: 'function', name: 'spawn', parameters: schema.value, strict: false },
          { type: 'function', name: 'stop', parameters: schema.value, strict: false },
        ],
      },
    ]);
    expect(written).toContain(schema.text);
    expect(body).toMatchObject({ tool_choice: 'auto', parallel_tool_calls: false });
  });

  it('have no choice without tools', () => {
    const { body } = build({ toolChoice: { mode: 'auto' }, parallelTools: false });
    expect(Object.keys(body)).not.toEqual(expect.arrayContaining(['tools']));
    expect([body['tool_choice'], body['parallel_tool_calls']]).toEqual([undefined, undefined]);
  });

  it.each([
    [{ mode: 'required' }, 'required'],
    [
      { mode: 'one', name: 'f' },
      { type: 'function', name: 'f' },
    ],
    [
      { mode: 'one', name: 'patch' },
      { type: 'custom', name: 'patch' },
    ],
    [
      { mode: 'one', name: 'spawn', namespace: 'agents' },
      { type: 'function', namespace: 'agents', name: 'spawn' },
    ],
    [
      { mode: 'auto', allowed: ['f'] },
      { type: 'allowed_tools', mode: 'auto', tools: [{ type: 'function', name: 'f' }] },
    ],
  ] as const)('map the choice %j (cases 56 and 58)', (toolChoice, expected) => {
    expect(build({ tools, toolChoice }).body['tool_choice']).toEqual(expected);
  });

  it('are filtered if allowed tools are not supported (case 58)', () => {
    const toolChoice = { mode: 'required', allowed: ['f'] } as const;
    const { body } = build({ tools, toolChoice }, { flags: { allowedTools: false } });
    expect([body['tool_choice'], body['tools']]).toMatchObject(['required', [{ name: 'f' }]]);
    expect(body['tools']).toHaveLength(1);
  });

  it('run web search only, if hosted', () => {
    const hostedTools = [
      { type: 'web_search', path: 'tools[0]' },
      { type: 'code_execution', path: 'tools[1]' },
    ];
    const { body, warnings } = build({ hostedTools });
    expect([body['tools'], warnings]).toEqual([[{ type: 'web_search' }], 'unsupported_tool:tools[1]']);
    const flags = { hostedWebSearch: false };
    expect(build({ tools, hostedTools }, { flags }).warnings).toBe(
      'unsupported_tool:tools[0],unsupported_tool:tools[1]',
    );
    const only = hostedTools.slice(1);
    expect(refusalOf(() => build({ hostedTools: only })).details.param).toBe('tools[1]');
  });
});

describe('Responses settings', () => {
  it.each([
    [undefined, undefined, undefined, undefined],
    [1, undefined, 16, 'clamped:max_tokens'],
    [500, undefined, 500, undefined],
    [4000, undefined, 1000, 'clamped:max_tokens'],
    [undefined, 4000, 1000, undefined],
    [500, 20, 20, undefined],
    [undefined, 3, 16, undefined],
  ])(
    'limit %j with an affordable %j to %j, for a model with 1000 tokens (case 117)',
    (outputLimit, payable, expected, warnings) => {
      const request = build({ outputLimit }, { outputLimit: payable });
      expect([request.body['max_output_tokens'], request.warnings]).toEqual([expected, warnings]);
    },
  );

  it('drop unsupported parameters with warnings', () => {
    const sampling = {
      temperature: 0.5,
      topP: 0.9,
      topK: 5,
      seed: 1,
      presencePenalty: 1,
      frequencyPenalty: 0,
      topLogprobs: 0,
    };
    const { body, warnings } = build({ sampling, stop: ['END'] });
    expect(body).toMatchObject({ temperature: 0.5, top_p: 0.9 });
    expect(warnings).toBe(
      'unsupported_parameter:top_k,unsupported_parameter:logprobs,unsupported_parameter:presence_penalty',
    );
    expect(build({ sampling: { presencePenalty: 0, frequencyPenalty: 0 } }).warnings).toBeUndefined();
    expect(refusalOf(() => build({ sampling }, {}, new TranslationWarnings(true))).details.param).toBe('top_k');
  });

  it('omit sampling for models with fixed sampling', () => {
    const { body, warnings } = build({ sampling: { temperature: 0.5, topP: 1 } }, { flags: { samplingFixed: true } });
    expect([body['temperature'], body['top_p'], warnings]).toEqual([
      undefined,
      undefined,
      'unsupported_parameter:temperature',
    ]);
  });

  it.each([
    [{ show: 'none' }, {}, undefined, undefined],
    [{ show: 'text' }, {}, { summary: 'auto' }, undefined],
    [{ show: 'text', effort: 'high' }, {}, { effort: 'high', summary: 'auto' }, undefined],
    [{ show: 'text', effort: 'high' }, { reasoningSummary: false }, { effort: 'high' }, undefined],
    [{ show: 'text', effort: 'none' }, { efforts: ['none', 'low'] }, { effort: 'none' }, undefined],
    [{ show: 'sealed', effort: 'max' }, {}, { effort: 'high' }, 'substituted:reasoning_effort'],
    [{ show: 'sealed', effort: 'max' }, { efforts: ['high', 'max'] }, { effort: 'max' }, undefined],
    [{ show: 'text', budget: 4096, thinking: 'on' }, {}, { effort: 'low', summary: 'auto' }, undefined],
    [{ show: 'sealed', budget: 20_000, thinking: 'on' }, {}, { effort: 'high' }, undefined],
    [{ show: 'none', thinking: 'off' }, { efforts: ['none', 'low'] }, { effort: 'none' }, undefined],
    [
      { show: 'none', thinking: 'off' },
      { efforts: ['minimal'] },
      { effort: 'minimal' },
      'substituted:reasoning_effort',
    ],
  ] as const)('map %j with %j of a reasoning model to %j (case 84)', (reasoning, flags, expected, warning) => {
    const { body, warnings } = build({ reasoning }, { flags: { reasoning: true, ...flags } });
    expect([body['include'], body['reasoning'], warnings]).toEqual([ENCRYPTED, expected, warning]);
  });

  it('treat a model with efforts as a reasoning model', () => {
    const { body } = build({ reasoning: { show: 'none', effort: 'low' } }, { flags: { efforts: ['low'] } });
    expect([body['include'], body['reasoning']]).toEqual([ENCRYPTED, { effort: 'low' }]);
  });

  it.each([{}, { reasoning: false }, { reasoning: true, thinkingMode: 'none' }])(
    'omit reasoning for other models: %j',
    (flags) => {
      const { body, warnings } = build({ reasoning: { show: 'text', effort: 'low' } }, { flags });
      expect([body['reasoning'], body['include'], warnings]).toEqual([
        undefined,
        undefined,
        'unsupported_parameter:reasoning_effort',
      ]);
      expect(build({ reasoning: { show: 'text', thinking: 'off' } }, { flags }).warnings).toBeUndefined();
    },
  );

  const schema = new RawJson('{"b":1,"a":2}');

  it.each([
    [{ kind: 'text' }, undefined, undefined],
    [{ kind: 'text' }, 'low', { format: { type: 'text' }, verbosity: 'low' }],
    [{ kind: 'json' }, undefined, { format: { type: 'json_object' } }],
    [
      { kind: 'schema', schema },
      undefined,
      { format: { type: 'json_schema', name: 'output', schema: { b: 1, a: 2 }, strict: false } },
    ],
    [
      { kind: 'schema', schema, name: 'n', description: 'D.', strict: true },
      undefined,
      { format: { type: 'json_schema', name: 'n', description: 'D.', schema: { b: 1, a: 2 }, strict: true } },
    ],
  ] as const)('map the format %j (case 118)', (format, verbosity, expected) => {
    expect(build({ format, verbosity }).body['text']).toEqual(expected);
  });

  it("hash end users that exceed the vendor's limits", () => {
    expect(build({ endUser: 'somebody' }).body['safety_identifier']).toBe('somebody');
    expect(build({ endUser: '{"device":"a b"}' }).body['safety_identifier']).toMatch(/^[0-9a-f]{64}$/);
    expect(build({ cacheKey: 'k', serviceTier: 'flex' }).body).toMatchObject({
      prompt_cache_key: 'k',
      service_tier: 'flex',
    });
  });
});
