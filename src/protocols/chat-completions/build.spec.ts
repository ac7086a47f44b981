import { refusalOf } from '../../../test/support/calls.js';
import {
  build,
  call,
  refused,
  result,
  toolCall,
  upstream,
  withFlags,
} from '../../../test/support/chat-completions-builds.js';
import { aContent, built } from '../../../test/support/translations.js';
import { assistant, text, user } from '../../../test/support/turns.js';
import { type CallContent, RawJson, TranslationWarnings } from '../contract/index.js';

const tool = (name: string, more: object = {}): CallContent['tools'][number] => ({
  name,
  schema: undefined,
  path: 'tools[3]',
  ...more,
});

const EMPTY_SCHEMA = { type: 'object', properties: {} };

describe('Chat Completions request building', () => {
  it('omits unset members', () => {
    expect(build({}, { model: 'vendor/m' })).toEqual({
      body: { model: 'vendor/m', messages: [{ role: 'user', content: 'Hello' }] },
      text: '{"model":"vendor/m","messages":[{"role":"user","content":"Hello"}]}',
      headers: { 'content-type': 'application/json', accept: 'application/json' },
      stopsSent: 0,
      warnings: undefined,
    });
  });

  it('requests a stream with usage', () => {
    const { body, headers } = build({}, { stream: true });
    expect(body).toMatchObject({ stream: true, stream_options: { include_usage: true } });
    expect(headers['accept']).toBe('text/event-stream');
    expect(build({}, { stream: true, flags: { includeUsage: false } }).body).not.toHaveProperty('stream_options');
  });

  it.each([
    [undefined, undefined, {}],
    [500, undefined, { max_tokens: 500 }],
    [undefined, 20, { max_tokens: 20 }],
    [500, 20, { max_tokens: 20 }],
    [5000, undefined, { max_tokens: 1000 }],
  ])('sets the output limit for %s of the client and %s of the balance', (outputLimit, affordable, members) => {
    const { body, warnings } = build({ outputLimit }, { outputLimit: affordable, maxOutputTokens: 1000 });
    expect(body).toEqual({ model: 'm', messages: [{ role: 'user', content: 'Hello' }], ...members });
    expect(warnings).toBe(outputLimit === 5000 ? 'clamped:max_tokens' : undefined);
    const renamed = build({ outputLimit: 5 }, { flags: { maxTokensField: 'max_completion_tokens' } }).body;
    expect(renamed).toMatchObject({ max_completion_tokens: 5 });
  });

  it('maps settings to this protocol', () => {
    const sampling = {
      temperature: 0,
      topP: 0.5,
      presencePenalty: 1,
      frequencyPenalty: -1,
      seed: 7,
      logitBias: new RawJson('{"5":-100}'),
    };
    const content = { sampling, verbosity: 'low', endUser: 'user-1', cacheKey: 'k', serviceTier: 'flex' };
    const { body, warnings } = withFlags(content, { cacheKey: true, verbosity: true });
    expect(body).toMatchObject({
      temperature: 0,
      top_p: 0.5,
      presence_penalty: 1,
      frequency_penalty: -1,
      seed: 7,
      logit_bias: { 5: -100 },
      verbosity: 'low',
      user: 'user-1',
      prompt_cache_key: 'k',
      service_tier: 'flex',
    });
    expect(warnings).toBeUndefined();
  });

  it('omits defaults, end user data and members that many servers reject', () => {
    const { body } = build({ verbosity: 'low', cacheKey: 'k', serviceTier: 'auto', endUser: '{"account":"a b"}' });
    expect(Object.keys(body)).toEqual(['model', 'messages', 'user']);
    expect(body['user']).toMatch(/^[0-9a-f]{64}$/);
  });

  it('drops unsupported parameters with warnings, or rejects them for a strict key (case 119)', () => {
    const sampling = { temperature: 1, topK: 5, topLogprobs: 0 };
    expect(build({ sampling }).warnings).toBe('unsupported_parameter:logprobs,unsupported_parameter:top_k');
    expect(withFlags({ sampling }, { topK: true }).body).toMatchObject({ temperature: 1, top_k: 5 });
    const chosen = { temperature: 0.5, topP: 1, frequencyPenalty: 0, seed: 7 };
    const fixed = withFlags({ sampling: chosen }, { samplingFixed: true });
    expect(fixed.body).toMatchObject({ seed: 7 });
    expect(fixed.body).not.toHaveProperty('temperature');
    expect(fixed.warnings).toBe('unsupported_parameter:temperature');
    const strict = (): unknown =>
      built(upstream, { call, content: aContent({ sampling }) }, {}, new TranslationWarnings(true));
    expect(refusalOf(strict).details).toEqual({ param: 'logprobs', fault: 'unsupported_parameter' });
  });

  it('sends as many stop sequences as the upstream accepts (case 35)', () => {
    const stop = ['a', 'b', 'c', 'd', 'e'];
    expect(build({ stop })).toMatchObject({ body: { stop: ['a', 'b', 'c', 'd'] }, stopsSent: 4 });
    expect(withFlags({ stop }, { stopMax: 0 })).toMatchObject({ stopsSent: 0 });
    expect(withFlags({ stop }, { stopMax: 0 }).body).not.toHaveProperty('stop');
  });
});

describe('Chat Completions tools', () => {
  const tools = [tool('f', { description: 'F.', strict: true }), tool('read', { namespace: 'files' })];
  const functions = [
    { type: 'function', function: { name: 'f', description: 'F.', parameters: EMPTY_SCHEMA, strict: true } },
    { type: 'function', function: { name: 'files__read', parameters: EMPTY_SCHEMA } },
  ];

  it('writes functions with their schemas as text (cases 59 and 61)', () => {
    expect(build({ tools, parallelTools: false }).body).toMatchObject({
      tools: functions,
      tool_choice: 'auto',
      parallel_tool_calls: false,
    });
    expect(withFlags({ tools }, { strictSchema: false }).text).not.toContain('strict');
    const schema = new RawJson('{"type":"object","properties":{"10":1.0,"2":9007199254740993}}');
    expect(build({ tools: [tool('g', { schema })] }).text).toContain(schema.text);
  });

  it('merges root alternatives of strict schemas (case 59)', () => {
    const schema = new RawJson('{"type":"object","anyOf":[{"properties":{"a":{}}},{"properties":{"b":{}}}]}');
    const strict = build({ tools: [tool('g', { schema, strict: true })] });
    expect(strict.warnings).toBe('schema_merged:tools[3]');
    expect(strict.body['tools']).toMatchObject([{ function: { parameters: { properties: { a: {}, b: {} } } } }]);
    expect(build({ tools: [tool('g', { schema })] })).toMatchObject({ warnings: undefined });
  });

  it.each([
    [{ mode: 'none' }, 'none'],
    [{ mode: 'required' }, 'required'],
    [
      { mode: 'one', name: 'read', namespace: 'files' },
      { type: 'function', function: { name: 'files__read' } },
    ],
  ] as const)('maps the choice %j (case 56)', (toolChoice, choice) => {
    expect(build({ tools, toolChoice }).body['tool_choice']).toEqual(choice);
    expect(build({ tools: [tool('read', { freeform: {} }), ...tools], toolChoice }).body['tool_choice']).toEqual(
      choice,
    );
    expect(build({ toolChoice, parallelTools: false }).text).not.toMatch(/tool/);
  });

  it('omits disallowed tools unless the upstream supports restrictions (case 58)', () => {
    const toolChoice = { mode: 'required', allowed: ['f'] } as const;
    expect(build({ tools, toolChoice }).body).toMatchObject({ tools: [functions[0]], tool_choice: 'required' });
    expect(withFlags({ tools, toolChoice }, { allowedTools: true }).body).toMatchObject({
      tools: functions,
      tool_choice: {
        type: 'allowed_tools',
        allowed_tools: { mode: 'required', tools: [{ type: 'function', function: { name: 'f' } }] },
      },
    });
  });

  it('wraps freeform input in JSON unless custom tools are supported (case 62)', () => {
    const grammar = { syntax: 'lark', definition: 'start: "a"' };
    const content = {
      tools: [tool('exec', { description: 'Runs.', freeform: { grammar } })],
      toolChoice: { mode: 'one', name: 'exec' } as const,
      turns: [
        user(text('a')),
        assistant(toolCall('x', { name: 'exec', arguments: 'l"s', isFreeform: true })),
        user(result('x')),
      ],
    };
    const wrapped = build(content);
    expect(wrapped.body).toMatchObject({
      tools: [{ type: 'function', function: { name: 'exec', parameters: { required: ['input'] } } }],
      tool_choice: { type: 'function', function: { name: 'exec' } },
    });
    expect(wrapped.body['messages']).toMatchObject([
      {},
      { tool_calls: [{ type: 'function', function: { name: 'exec', arguments: '{"input":"l\\"s"}' } }] },
      {},
    ]);
    expect(wrapped.text).toContain('Runs.\\n\\nThe input must match this lark grammar:\\nstart: \\"a\\"');
    expect(wrapped.warnings).toBe('in_words:tools[3]');
    expect(withFlags(content, { customTools: true })).toMatchObject({
      body: {
        tools: [
          { type: 'custom', custom: { name: 'exec', description: 'Runs.', format: { type: 'grammar', grammar } } },
        ],
        tool_choice: { type: 'custom', custom: { name: 'exec' } },
        messages: [{}, { tool_calls: [{ type: 'custom', custom: { name: 'exec', input: 'l"s' } }] }, {}],
      },
      warnings: undefined,
    });
  });

  it('requests hosted tools if supported, otherwise drops them with a warning (case 61)', () => {
    const hostedTools = [{ type: 'web_search', path: 'tools[2]' }];
    expect(build({ tools, hostedTools }).warnings).toBe('unsupported_tool:tools[2]');
    expect(withFlags({ hostedTools }, { hostedWebSearch: true }).body).toMatchObject({ web_search_options: {} });
    expect(refused({ hostedTools })).toEqual({ param: 'tools[2]', fault: 'unsupported_parameter' });
  });
});

describe('Chat Completions efforts and formats', () => {
  it.each([
    [{ effort: 'high' }, { reasoning: true }, 'high', undefined],
    [{ effort: 'max' }, { reasoning: true }, 'high', 'substituted:reasoning_effort'],
    [{ effort: 'minimal' }, { reasoning: true }, 'low', 'substituted:reasoning_effort'],
    [{ thinking: 'off' }, { reasoning: true }, 'low', 'substituted:reasoning_effort'],
    [{ thinking: 'off' }, { efforts: ['none', 'low'] }, 'none', undefined],
    [{ thinking: 'off' }, {}, undefined, undefined],
    [{ effort: 'high' }, {}, undefined, 'unsupported_parameter:reasoning_effort'],
    [{ effort: 'xhigh' }, { efforts: ['low', 'xhigh'] }, 'xhigh', undefined],
    [{ thinking: 'on' }, { reasoning: true }, undefined, undefined],
    [{ thinking: 'on', budget: 4096 }, { reasoning: true }, 'low', undefined],
    [{ thinking: 'on', budget: 16_384 }, { reasoning: true }, 'medium', undefined],
    [{ thinking: 'on', budget: 32_768 }, { reasoning: true }, 'high', undefined],
    [{ thinking: 'on', budget: 32_769 }, { efforts: ['xhigh'] }, 'xhigh', undefined],
  ] as const)('maps %j with %j to the effort %s (case 84)', (wish, flags, effort, warnings) => {
    const request = withFlags({ reasoning: { show: 'text', ...wish } }, flags);
    expect(request.body['reasoning_effort']).toBe(effort);
    expect(request.warnings).toBe(warnings);
  });

  const schema = new RawJson('{"type":"object","properties":{"10":{},"2":{}}}');

  it('requests JSON or a schema (case 118)', () => {
    expect(build({ format: { kind: 'json' } }).body['response_format']).toEqual({ type: 'json_object' });
    const { body, text: written } = build({ format: { kind: 'schema', schema, strict: true } });
    expect(body['response_format']).toMatchObject({
      type: 'json_schema',
      json_schema: { name: 'output', strict: true },
    });
    expect(written).toContain(`"schema":${schema.text}`);
  });

  it('describes the format if it is not supported (case 118)', () => {
    const { body, warnings } = withFlags({ format: { kind: 'schema', schema } }, { structuredOutput: false });
    expect(body).not.toHaveProperty('response_format');
    expect(body['messages']).toMatchObject([{ role: 'system', content: expect.stringContaining(schema.text) }, {}]);
    expect(warnings).toBe('in_words:response_format');
  });
});
