import { refusalOf } from '../../../test/support/calls.js';
import { aTool, block, build, call, flagged, toolCall, upstream } from '../../../test/support/messages-builds.js';
import { aContent, built } from '../../../test/support/translations.js';
import { assistant, text, user } from '../../../test/support/turns.js';
import { type CallContent, type Part, RawJson, TranslationWarnings } from '../contract/index.js';

describe('Messages request building', () => {
  it('has only required members by default', () => {
    expect(build({}, { flags: { autoCacheControl: false }, stream: false })).toEqual({
      body: {
        model: 'm',
        max_tokens: 64_000,
        messages: [{ role: 'user', content: [block('Hello')] }],
        stream: false,
      },
      text: expect.any(String) as unknown,
      headers: { 'content-type': 'application/json', accept: 'application/json', 'anthropic-version': '2023-06-01' },
      stopsSent: 0,
      warnings: undefined,
    });
  });

  it("uses the channel's version and stream setting", () => {
    const { headers, body } = build({}, { flags: { anthropicVersion: '2026-10-21' }, stream: true });
    expect(headers).toMatchObject({ 'anthropic-version': '2026-10-21', accept: 'text/event-stream' });
    expect(body['stream']).toBe(true);
  });

  it.each([
    [{}, {}, 64_000, undefined],
    [{ outputLimit: 100 }, {}, 100, undefined],
    [{ outputLimit: 100_000 }, {}, 64_000, 'clamped:max_tokens'],
    [{ outputLimit: 100 }, { outputLimit: 50 }, 50, undefined],
    [{ outputLimit: 100 }, { outputLimit: 500 }, 100, undefined],
  ])('limits output: %j %j', (content, target, limit, warnings) => {
    const request = build(content, target);
    expect([request.body['max_tokens'], request.warnings]).toEqual([limit, warnings]);
  });

  it('maps supported settings and warns of others', () => {
    const { body, warnings } = build({
      sampling: {
        temperature: 1.7,
        topP: 0.5,
        topK: 3,
        presencePenalty: 1,
        frequencyPenalty: 0,
        seed: 1,
        topLogprobs: 0,
      },
      endUser: 'u',
      serviceTier: 'priority',
      verbosity: 'low',
      cacheKey: 'k',
      stop: ['A', 'B'],
    });
    expect(body).toMatchObject({
      temperature: 1,
      top_p: 0.5,
      top_k: 3,
      metadata: { user_id: 'u' },
      stop_sequences: ['A', 'B'],
    });
    expect(warnings).toBe(
      'unsupported_parameter:presence_penalty,unsupported_parameter:logprobs,clamped:temperature,unsupported_parameter:service_tier',
    );
    expect(build({ serviceTier: 'default' }).body['service_tier']).toBe('standard_only');
    expect(build({ serviceTier: 'auto' })).toMatchObject({ warnings: undefined });
  });

  it('rejects a cheaper tier that the protocol lacks', () => {
    expect(() => build({ serviceTier: 'flex' })).toThrow('service_tier is "flex"');
  });

  it.each([
    [
      { anthropicVersion: '2026-10-21' },
      { temperature: 0.5, topP: 0.5 },
      {},
      'unsupported_parameter:temperature,unsupported_parameter:top_p',
    ],
    [{ samplingFixed: true }, { temperature: 1, topP: 1 }, {}, undefined],
    [{ oneSampler: true }, { temperature: 0.5, topP: 0.5 }, { temperature: 0.5 }, 'unsupported_parameter:top_p'],
    [{ oneSampler: true }, { topP: 0.5 }, { top_p: 0.5 }, undefined],
    [
      { thinkingMode: 'always' },
      { temperature: 0.5, topP: 0.97, topK: 3 },
      { top_p: 0.97 },
      'unsupported_parameter:temperature,unsupported_parameter:top_k',
    ],
  ])('samples as the model allows: %j %j (case 113)', (flags, sampling, expected, warnings) => {
    const { body, warnings: given } = flagged({ sampling }, flags);
    const { temperature, top_p, top_k } = body;
    expect(JSON.parse(JSON.stringify({ temperature, top_p, top_k }))).toEqual(expected);
    expect(given).toBe(warnings);
  });

  it('leaves blank stop sequences and all after them to the relay', () => {
    const { body, stopsSent } = build({ stop: ['A', '\n', 'B'] });
    expect([body['stop_sequences'], stopsSent]).toEqual([['A'], 1]);
    expect(build({ stop: [' '] }).body['stop_sequences']).toBeUndefined();
  });

  it('rejects changes for a strict key (case 119)', () => {
    const content = aContent({ sampling: { temperature: 2 } });
    const error = refusalOf(() => built(upstream, { call, content }, {}, new TranslationWarnings(true)));
    expect(error).toMatchObject({ kind: 'invalid_request', details: { param: 'temperature' } });
  });

  it('sets cache breakpoints for clients without any, four at most (case 75)', () => {
    expect(build({}).body['cache_control']).toEqual({ type: 'ephemeral' });
    const marked = { kind: 'text', text: 'x', cache: { ttl: '1h' } } as const;
    const { body } = build({
      tools: [aTool({ cache: {} })],
      lead: [marked, marked],
      turns: [
        user(marked),
        assistant(toolCall('a')),
        user({ kind: 'tool-result', id: 'a', parts: [marked], isError: false, cache: { ttl: '12h' } }),
      ],
    });
    expect(JSON.stringify(body).match(/"cache_control"/g)).toHaveLength(4);
    expect(body['cache_control']).toBeUndefined();
    expect((body['tools'] as object[])[0]).not.toHaveProperty('cache_control');
    expect(body['system']).toEqual([
      { type: 'text', text: 'x' },
      { type: 'text', text: 'x', cache_control: { type: 'ephemeral', ttl: '1h' } },
    ]);
  });
});

describe('Messages tools', () => {
  it('are renamed consistently if necessary (case 63)', () => {
    const tools = [aTool({ name: 'a.b', namespace: 'ns' })];
    const called: Part = { kind: 'tool-call', id: 'a', name: 'a.b', namespace: 'ns', arguments: '{}' };
    const { body } = build({
      tools,
      toolChoice: { mode: 'one', name: 'a.b', namespace: 'ns' },
      turns: [user(text('Go')), assistant(called)],
    });
    const [{ name } = { name: '' }] = body['tools'] as { name: string }[];
    expect(name).toMatch(/^ns__a_b_[0-9a-f]{8}$/);
    expect(body['tool_choice']).toEqual({ type: 'tool', name });
    expect(body['messages']).toMatchObject([{}, { content: [{ type: 'tool_use', name }] }]);
  });

  it('wrap freeform input and describe its grammar (case 62)', () => {
    const { body, warnings } = build({
      tools: [
        aTool({
          description: 'Patches.',
          schema: undefined,
          freeform: { grammar: { syntax: 'lark', definition: 'start: "x"' } },
        }),
      ],
      turns: [
        user(text('Go')),
        assistant({ kind: 'tool-call', id: 'a', name: 'get', arguments: '*** "x"', isFreeform: true }),
      ],
    });
    expect(body['tools']).toEqual([
      {
        name: 'get',
        description: 'Patches.\n\nThe input must match this lark grammar:\nstart: "x"',
        input_schema: {
          type: 'object',
          properties: { input: { type: 'string' } },
          required: ['input'],
          additionalProperties: false,
        },
      },
    ]);
    expect(body['messages']).toMatchObject([{}, { content: [{ input: { input: '*** "x"' } }] }]);
    expect(warnings).toBe('in_words:tools[0]');
  });

  it('merge root alternatives of schemas (case 59)', () => {
    const schema = new RawJson('{"anyOf":[{"properties":{"a":{}},"required":["a"]},{"properties":{"b":{}}}]}');
    const { body, warnings } = build({
      tools: [aTool({ schema, path: 'tools[4]' }), aTool({ name: 'none', schema: undefined, strict: true })],
    });
    expect(body['tools']).toEqual([
      {
        name: 'get',
        description: expect.stringContaining('at least one of') as unknown,
        input_schema: { type: 'object', properties: { a: {}, b: {} } },
      },
      { name: 'none', input_schema: { type: 'object', properties: {} }, strict: true },
    ]);
    expect(warnings).toBe('schema_merged:tools[4]');
    expect(flagged({ tools: [aTool({ strict: true })] }, { strictSchema: false }).text).not.toContain('strict');
  });

  it.each<[Partial<CallContent>, object]>([
    [{ toolChoice: { mode: 'auto' } }, { type: 'auto' }],
    [{ toolChoice: { mode: 'required' } }, { type: 'any' }],
    [{ toolChoice: { mode: 'none' }, parallelTools: false }, { type: 'none' }],
    [{ toolChoice: { mode: 'one', name: 'get' } }, { type: 'tool', name: 'get' }],
    [
      { toolChoice: { mode: 'auto' }, parallelTools: false },
      { type: 'auto', disable_parallel_tool_use: true },
    ],
    [{ toolChoice: { mode: 'auto' }, parallelTools: true }, { type: 'auto' }],
  ])('map the choice %j (cases 56 and 57)', (content, choice) => {
    expect(build({ ...content, tools: [aTool()] }).body['tool_choice']).toEqual(choice);
    expect(build(content).body['tool_choice']).toBeUndefined();
  });

  it('contain only allowed ones (case 58)', () => {
    const tools = [aTool({ name: 'a' }), aTool({ name: 'b' }), aTool({ name: 'c' })];
    const { body } = build({ tools, toolChoice: { mode: 'required', allowed: ['c', 'a'] } });
    expect((body['tools'] as { name: string }[]).map(({ name }) => name)).toEqual(['a', 'c']);
    expect(body['tool_choice']).toEqual({ type: 'any' });
  });

  it('of other vendors are dropped, or rejected if none is left', () => {
    const hostedTools = [{ type: 'web_search', path: 'tools[1]' }];
    expect(build({ tools: [aTool()], hostedTools })).toMatchObject({ warnings: 'unsupported_tool:tools[1]' });
    expect(refusalOf(() => build({ hostedTools })).details.param).toBe('tools[1]');
    expect(flagged({ hostedTools }, { hostedWebSearch: true }).body['tools']).toEqual([
      { type: 'web_search_20250305', name: 'web_search' },
    ]);
  });
});

describe('Messages output formats', () => {
  const schema = new RawJson('{"type":"object","properties":{"10":{"type":"object"},"2":{}}}');

  it('send the schema, closed if strict (case 118)', () => {
    const { text: sent } = build({ format: { kind: 'schema', schema, name: 'x' } });
    expect(sent).toContain(`"output_config":{"format":{"type":"json_schema","schema":${schema.text}}}`);
    const { body } = build({ format: { kind: 'schema', schema, strict: true } });
    expect(body['output_config']).toMatchObject({
      format: {
        schema: { additionalProperties: false, properties: { '10': { additionalProperties: false }, '2': {} } },
      },
    });
  });

  it('are described if not supported (case 118)', () => {
    const { body, warnings } = build({ lead: [{ kind: 'text', text: 'Be kind.' }], format: { kind: 'json' } });
    expect(body['system']).toEqual([block('Be kind.'), block('Respond with a single JSON object and nothing else.')]);
    expect(warnings).toBe('in_words:response_format');
    const format = { kind: 'schema', schema } as const;
    const worded = flagged({ format, tools: [aTool()] }, { structuredOutput: false });
    expect(worded.warnings).toBe('in_words:response_format');
    expect(JSON.stringify(worded.body['system'])).toContain(JSON.stringify(schema.text).slice(1, -1));
  });

  it('use a forced tool for models without schemas', () => {
    const { body, warnings } = flagged({ format: { kind: 'schema', schema } }, { structuredOutput: false });
    expect(body).toMatchObject({
      tools: [{ name: 'respond', input_schema: schema.value }],
      tool_choice: { type: 'tool', name: 'respond' },
    });
    expect(body['output_config']).toBeUndefined();
    expect(warnings).toBeUndefined();
  });
});
