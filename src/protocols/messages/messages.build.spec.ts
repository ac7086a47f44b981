import { aCall, refusalOf } from '../../../test/support/calls.js';
import { aContent, built, type Built } from '../../../test/support/translations.js';
import {
  Losses,
  RawJson,
  type CallContent,
  type Part,
  type Tool,
  type Turn,
  type UpstreamTarget,
} from '../../call/index.js';
import { AppError } from '../../shared/index.js';
import { MessagesProtocol } from './messages.protocol.js';
import { MessagesUpstream } from './messages.upstream.js';

const upstream = new MessagesUpstream();
const call = aCall(new MessagesProtocol(), { model: 'm', max_tokens: 1, messages: [] });

interface Setting extends Partial<Omit<UpstreamTarget, 'flags'>> {
  readonly flags?: Readonly<Record<string, unknown>>;
}

const build = (content: Partial<CallContent>, target: Setting = {}): Built =>
  built(upstream, { call, content: aContent(content) }, { maxOutputTokens: 64_000, ...target });
const flagged = (content: Partial<CallContent>, flags: Setting['flags'] = {}): Built => build(content, { flags });

const text = (words: string): Part => ({ kind: 'text', text: words });
const user = (...parts: readonly Part[]): Turn => ({ role: 'user', parts });
const assistant = (...parts: readonly Part[]): Turn => ({ role: 'assistant', parts });
const system = (words: string): Turn => ({ role: 'system', parts: [text(words)] });
const toolCall = (id: string, json = '{}'): Part => ({ kind: 'tool-call', id, name: 'get', arguments: json });
const result = (id: string, words = 'ok', isError = false): Part => ({
  kind: 'tool-result',
  id,
  parts: words === '' ? [] : [{ kind: 'text', text: words }],
  isError,
});
const block = (words: string): object => ({ type: 'text', text: words });
const messagesOf = (turns: readonly Turn[], flags?: Setting['flags']): unknown =>
  flagged({ turns }, flags).body['messages'];
const aTool = (overrides: Partial<Tool> = {}): Tool => ({
  name: 'get',
  schema: new RawJson('{"type":"object","properties":{}}'),
  path: 'tools[0]',
  ...overrides,
});

describe('requests to Messages upstreams of other dialects', () => {
  it('have nothing but what they must have', () => {
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

  it('speak the version of their channel, streamed as it says', () => {
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
  ])('limit the output: %j %j', (content, target, limit, warnings) => {
    const request = build(content, target);
    expect([request.body['max_tokens'], request.warnings]).toEqual([limit, warnings]);
  });

  it('say what the dialect has words for, and name what it has none for', () => {
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
      serviceTier: 'flex',
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
      'unsupported_parameter:verbosity,unsupported_parameter:presence_penalty,unsupported_parameter:logprobs,clamped:temperature,unsupported_parameter:service_tier',
    );
    expect(build({ serviceTier: 'default' }).body['service_tier']).toBe('standard_only');
    expect(build({ serviceTier: 'auto' })).toMatchObject({ warnings: undefined });
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
  ])('sample as the model lets them: %j %j (case 113)', (flags, sampling, expected, warnings) => {
    const { body, warnings: given } = flagged({ sampling }, flags);
    const { temperature, top_p, top_k } = body;
    expect(JSON.parse(JSON.stringify({ temperature, top_p, top_k }))).toEqual(expected);
    expect(given).toBe(warnings);
  });

  it('leave stop texts of white space to the relay, and all behind them', () => {
    const { body, stopsSent } = build({ stop: ['A', '\n', 'B'] });
    expect([body['stop_sequences'], stopsSent]).toEqual([['A'], 1]);
    expect(build({ stop: [' '] }).body['stop_sequences']).toBeUndefined();
  });

  it('are refused by a strict key rather than changed (case 119)', () => {
    const content = aContent({ sampling: { temperature: 2 } });
    const error = refusalOf(() => built(upstream, { call, content }, {}, new Losses(true)));
    expect(error).toMatchObject({ kind: 'invalid_request', details: { param: 'temperature' } });
  });

  it('have prompts kept in a cache when their clients mark nothing, and four marks at most (case 75)', () => {
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

describe('conversations with Messages upstreams', () => {
  it('have results first, whatever stands between, and in the calls’ message none is missing (cases 67 and 68)', () => {
    const turns = [
      user(text('Go')),
      assistant(text('Well'), toolCall('a'), toolCall('b')),
      user(
        text('Meanwhile'),
        result('b'),
        { kind: 'image', source: { from: 'url', url: 'https://e.example/a' } },
        result('a', 'no', true),
      ),
    ];
    expect(messagesOf(turns)).toEqual([
      { role: 'user', content: [block('Go')] },
      {
        role: 'assistant',
        content: [
          block('Well'),
          { type: 'tool_use', id: 'a', name: 'get', input: {} },
          { type: 'tool_use', id: 'b', name: 'get', input: {} },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'a', content: [block('no')], is_error: true },
          { type: 'tool_result', tool_use_id: 'b', content: [block('ok')] },
          block('Meanwhile'),
          { type: 'image', source: { type: 'url', url: 'https://e.example/a' } },
        ],
      },
    ]);
  });

  it('have a result for each call but the last, and none without (case 69)', () => {
    const { body, warnings } = build({
      turns: [
        user(text('Go')),
        assistant(toolCall('a')),
        user(text('Stop'), result('z', 'lost')),
        assistant(toolCall('b')),
      ],
    });
    expect(body['messages']).toEqual([
      { role: 'user', content: [block('Go')] },
      { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'get', input: {} }] },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'a', content: [block('[no result]')], is_error: true },
          block('Stop'),
          block('Result of the tool call z:'),
          block('lost'),
        ],
      },
      { role: 'assistant', content: [{ type: 'tool_use', id: 'b', name: 'get', input: {} }] },
    ]);
    expect(warnings).toBe('tool_result_missing:messages,tool_result_without_call:messages');
  });

  it('know each call by an id of its own that the dialect allows (case 64)', () => {
    const long = `call:${'x'.repeat(81)}`;
    const turns = [
      user(text('Go')),
      assistant(toolCall('a'), toolCall(long)),
      user(result('a', 'one'), result(long)),
      assistant(toolCall('a')),
      user(result('a', 'two')),
    ];
    const blocks = (messagesOf(turns) as { content: Record<string, unknown>[] }[]).flatMap(({ content }) => content);
    const [first, odd, third] = blocks.filter(({ type }) => type === 'tool_use').map(({ id }) => id);
    expect(first).toBe('a');
    expect(odd).toMatch(/^call_x+_[0-9a-f]{8}$/);
    expect(third).toBe('a_2');
    expect(blocks.filter(({ type }) => type === 'tool_result').map((told) => told['tool_use_id'])).toEqual([
      first,
      odd,
      third,
    ]);
  });

  it('have instructions in their place where the model takes them there (case 74)', () => {
    const turns = [
      user(text('Go')),
      system('A'),
      system('B'),
      assistant(text('Well')),
      system('C'),
      user(text('On')),
      system('D'),
    ];
    expect(messagesOf(turns, { midSystem: 'native' })).toEqual([
      { role: 'user', content: [block('Go')] },
      { role: 'system', content: [block('A'), block('B')] },
      { role: 'assistant', content: [block('Well')] },
      { role: 'user', content: [block('<system-reminder>\nC\n</system-reminder>'), block('On')] },
      { role: 'system', content: [block('D')] },
    ]);
    expect(messagesOf(turns)).toEqual([
      {
        role: 'user',
        content: [
          block('Go'),
          block('<system-reminder>\nA\n</system-reminder>'),
          block('<system-reminder>\nB\n</system-reminder>'),
        ],
      },
      { role: 'assistant', content: [block('Well')] },
      {
        role: 'user',
        content: [
          block('<system-reminder>\nC\n</system-reminder>'),
          block('On'),
          block('<system-reminder>\nD\n</system-reminder>'),
        ],
      },
    ]);
  });

  it('have an instruction behind the results that it comes before', () => {
    const turns = [user(text('Go')), assistant(toolCall('a')), system('Mind'), user(result('a'))];
    expect((messagesOf(turns) as { content: object[] }[]).at(-1)?.content).toEqual([
      { type: 'tool_result', tool_use_id: 'a', content: [block('ok')] },
      block('<system-reminder>\nMind\n</system-reminder>'),
    ]);
  });

  it('have no text without words, and begin with the user (cases 72 and 73)', () => {
    const turns = [assistant(text('Hi')), user(text(' \n')), assistant(text('there')), user(text('Go'))];
    const { body, warnings } = build({ lead: [{ kind: 'text', text: ' ' }], turns });
    expect(body['system']).toBeUndefined();
    expect(body['messages']).toEqual([
      { role: 'user', content: [block('.')] },
      { role: 'assistant', content: [block('Hi'), block('there')] },
      { role: 'user', content: [block('Go')] },
    ]);
    expect(warnings).toBe('user_message_inserted:messages');
    expect(refusalOf(() => build({ turns: [user(text(' '))] })).details.param).toBe('messages');
  });

  it('may be begun for the model, where it takes that (case 76)', () => {
    const turns = [user(text('Go')), assistant(text('Once upon \n'))];
    expect((messagesOf(turns) as object[]).at(-1)).toEqual({ role: 'assistant', content: [block('Once upon')] });
    expect(refusalOf(() => flagged({ turns }, { prefill: false })).details.param).toBe('messages');
  });

  it('say nothing for an empty result, or what the channel wants to hear', () => {
    const turns = [user(text('Go')), assistant(toolCall('a')), user(result('a', ''))];
    const told = (flags: Setting['flags']): unknown =>
      ((messagesOf(turns, flags) as { content: object[] }[])[2]?.content ?? [])[0];
    expect(told({})).toEqual({ type: 'tool_result', tool_use_id: 'a' });
    expect(told({ emptyToolResultText: true })).toMatchObject({ content: [block('(no output)')] });
  });

  it('show images and documents, in results too (case 70)', () => {
    const png: Part = { kind: 'image', source: { from: 'data', mediaType: 'image/png', base64: 'iVBO' } };
    const shown = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBO' } };
    const turns = [
      user(png, {
        kind: 'file',
        name: 'a.pdf',
        source: { from: 'data', mediaType: 'application/pdf', base64: 'JVBE' },
      }),
      assistant(toolCall('a'), png),
      user(
        { kind: 'tool-result', id: 'a', parts: [png], isError: false },
        { kind: 'file', source: { from: 'data', mediaType: 'text/csv', base64: 'YSxi' } },
      ),
    ];
    const { body, warnings } = build({ turns });
    expect(body['messages']).toEqual([
      {
        role: 'user',
        content: [
          shown,
          { type: 'document', title: 'a.pdf', source: { type: 'base64', media_type: 'application/pdf', data: 'JVBE' } },
        ],
      },
      { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'get', input: {} }] },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'a', content: [shown] },
          { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'a,b' } },
        ],
      },
    ]);
    expect(warnings).toBe('unsupported_content:messages');
  });

  it.each<[Part, Setting['flags']]>([
    [{ kind: 'audio', format: 'mp3', base64: '' }, {}],
    [{ kind: 'image', source: { from: 'data', mediaType: 'image/tiff', base64: '' } }, {}],
    [{ kind: 'image', source: { from: 'url', url: 'https://e.example' } }, { imageUrl: false }],
    [{ kind: 'file', source: { from: 'data', mediaType: 'application/zip', base64: '' } }, {}],
  ])('cannot hold %j', (part, flags) => {
    const error = refusalOf(() => flagged({ turns: [user(part)] }, flags));
    expect([error.kind, error.details.fault]).toEqual(['invalid_request', 'unsupported_parameter']);
  });

  it('repeat what was called to the byte, and wrap what is no object (cases 53 and 54)', () => {
    const json = '{"n": 9007199254740993,"s":"\\u2028"}';
    const turns = [user(text('Go')), assistant(toolCall('a', json), toolCall('b', '{"cut'))];
    const { text: sent } = build({ turns });
    expect(sent).toContain(`"input":${json}`);
    expect(sent).toContain('"input":{"input":"{\\"cut"}');
  });

  it('repeat thoughts of their own family to the byte, in front, and no others (cases 79, 81, 82 and 83)', () => {
    const thought = (
      kind: 'signature' | 'redacted' | 'encrypted',
      family: string,
      data: string,
      words: string,
    ): Part => ({
      kind: 'reasoning',
      text: 'shown',
      opaque: { kind, family, data, text: words },
    });
    const turns = [
      user(text('Go')),
      assistant(
        text('Well'),
        thought('signature', 'f', 'EqQB+/=', 'Exactly this '),
        thought('signature', 'f', 'Eq', ''),
        thought('redacted', 'f', 'red', ''),
        thought('signature', 'other', 'x', ''),
        thought('encrypted', 'f', 'x', ''),
        { kind: 'reasoning', text: 'nobody’s' },
      ),
      user(text('On')),
    ];
    expect((messagesOf(turns) as { content: unknown }[])[1]?.content).toEqual([
      { type: 'thinking', thinking: 'Exactly this ', signature: 'EqQB+/=' },
      { type: 'thinking', thinking: '', signature: 'Eq' },
      { type: 'redacted_thinking', data: 'red' },
      block('Well'),
    ]);
  });
});

describe('tools of Messages upstreams', () => {
  it('are renamed where the dialect needs it, here and in the conversation (case 63)', () => {
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

  it('take text in an object, and are told the grammar of it (case 62)', () => {
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

  it('have schemas without alternatives at their root (case 59)', () => {
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
  ])('are chosen: %j (cases 56 and 57)', (content, choice) => {
    expect(build({ ...content, tools: [aTool()] }).body['tool_choice']).toEqual(choice);
    expect(build(content).body['tool_choice']).toBeUndefined();
  });

  it('are only those that the client allows (case 58)', () => {
    const tools = [aTool({ name: 'a' }), aTool({ name: 'b' }), aTool({ name: 'c' })];
    const { body } = build({ tools, toolChoice: { mode: 'required', allowed: ['c', 'a'] } });
    expect((body['tools'] as { name: string }[]).map(({ name }) => name)).toEqual(['a', 'c']);
    expect(body['tool_choice']).toEqual({ type: 'any' });
  });

  it('that another vendor runs are dropped, or refused where there is nothing else', () => {
    const hostedTools = [{ type: 'web_search', path: 'tools[1]' }];
    expect(build({ tools: [aTool()], hostedTools })).toMatchObject({ warnings: 'unsupported_tool:tools[1]' });
    expect(refusalOf(() => build({ hostedTools })).details.param).toBe('tools[1]');
    expect(flagged({ hostedTools }, { hostedWebSearch: true }).body['tools']).toEqual([
      { type: 'web_search_20250305', name: 'web_search' },
    ]);
  });
});

describe('thinking of Messages upstreams', () => {
  const adaptive = (show: 'text' | 'sealed', effort: string, flags = {}): Built =>
    flagged({ reasoning: { effort, show } }, { thinkingMode: 'adaptive', ...flags });

  it.each([
    ['minimal', 'low', undefined],
    ['low', 'low', undefined],
    ['medium', 'medium', undefined],
    ['high', 'high', undefined],
    ['xhigh', 'xhigh', undefined],
    ['max', 'max', undefined],
    ['ultra', undefined, 'unsupported_parameter:reasoning_effort'],
  ])('takes the effort %s as %s where it adapts (case 84)', (effort, expected, warnings) => {
    const { body, warnings: given } = adaptive('text', effort);
    expect(body['thinking']).toEqual({ type: 'adaptive', display: 'summarized' });
    expect(body['output_config']).toEqual(expected === undefined ? undefined : { effort: expected });
    expect(given).toBe(warnings);
  });

  it('is shown as clients want it, and substituted by what the model knows', () => {
    expect(adaptive('sealed', 'high').body['thinking']).toEqual({ type: 'adaptive', display: 'omitted' });
    const { body, warnings } = adaptive('text', 'xhigh', { efforts: ['none', 'low', 'high'] });
    expect([body['output_config'], warnings]).toEqual([{ effort: 'high' }, 'substituted:reasoning_effort']);
    expect(adaptive('text', 'minimal', { efforts: ['none', 'low'] }).body['output_config']).toEqual({ effort: 'low' });
  });

  it.each([
    ['adaptive', { type: 'disabled' }, undefined],
    ['budget', { type: 'disabled' }, undefined],
    ['always', undefined, 'thinking_on:reasoning_effort'],
    ['none', undefined, undefined],
  ])('is switched off where it is %s (case 84)', (thinkingMode, thinking, warnings) => {
    const { body, warnings: given } = flagged({ reasoning: { effort: 'none', show: 'none' } }, { thinkingMode });
    expect([body['thinking'], given]).toEqual([thinking, warnings]);
  });

  it.each(['adaptive', 'budget', 'always', 'none'])(
    'is the model’s to choose where the client says nothing: %s',
    (thinkingMode) => {
      const { text: sent, warnings } = flagged({}, { thinkingMode });
      expect(sent).not.toContain('thinking');
      expect(sent).not.toContain('output_config');
      expect(warnings).toBeUndefined();
    },
  );

  it.each([
    ['minimal', undefined, 1280, 64_000],
    ['low', 2000, 1024, 2000],
    ['medium', 10_000, 3000, 10_000],
    ['high', 10_000, 6000, 10_000],
    ['xhigh', 10_000, 9000, 10_000],
    ['max', 10_000, 9500, 10_000],
  ])(
    'has a budget for the effort %s, within what the client lets it write: %s (case 84)',
    (effort, outputLimit, budget, limit) => {
      const { body, warnings } = flagged(
        { outputLimit, reasoning: { effort, show: 'text' } },
        { thinkingMode: 'budget' },
      );
      expect(body['thinking']).toEqual({ type: 'enabled', budget_tokens: budget });
      expect(body['max_tokens']).toBe(limit);
      expect(warnings).toBeUndefined();
    },
  );

  it('is off where the client lets it write no more than it would think (case 84)', () => {
    const content = { outputLimit: 500, reasoning: { effort: 'low', show: 'text' } } as const;
    const { body, warnings } = flagged(content, { thinkingMode: 'budget' });
    expect([body['thinking'], body['max_tokens'], warnings]).toEqual([
      { type: 'disabled' },
      500,
      'thinking_off:reasoning_effort',
    ]);
  });

  it('is not paid for by what is left: the call is refused', () => {
    const content = { reasoning: { effort: 'high', show: 'text' } } as const;
    const error = refusalOf(() => build(content, { outputLimit: 1024, flags: { thinkingMode: 'budget' } }));
    expect(error).toBeInstanceOf(AppError);
    expect(error).toMatchObject({
      kind: 'insufficient_quota',
      message: expect.stringMatching(/^insufficient quota/) as unknown,
    });
    expect(build(content, { outputLimit: 2048, flags: { thinkingMode: 'budget' } }).body).toMatchObject({
      max_tokens: 2048,
      thinking: { type: 'enabled', budget_tokens: 1228 },
    });
  });

  it('is off within a loop of tools whose thoughts are not there, where it has a budget', () => {
    const turns = (...thoughts: readonly Part[]): Turn[] => [
      user(text('Go')),
      assistant(...thoughts, toolCall('a')),
      user(result('a')),
    ];
    const thought: Part = {
      kind: 'reasoning',
      text: '',
      opaque: { kind: 'signature', family: 'f', data: 'x', text: '' },
    };
    const reasoning = { effort: 'high', show: 'text' } as const;
    const flags = { thinkingMode: 'budget' };
    expect(flagged({ turns: turns(), reasoning }, flags)).toMatchObject({
      body: { thinking: { type: 'disabled' } },
      warnings: 'thinking_off:reasoning_effort',
    });
    expect(flagged({ turns: turns(thought), reasoning }, flags).body).toMatchObject({ thinking: { type: 'enabled' } });
  });

  it.each([
    ['adaptive', { thinking: { type: 'disabled' }, tool_choice: { type: 'any' } }, 'thinking_off:reasoning_effort'],
    ['budget', { thinking: { type: 'disabled' }, tool_choice: { type: 'any' } }, 'thinking_off:reasoning_effort'],
    ['always', { thinking: { type: 'adaptive' }, tool_choice: { type: 'auto' } }, 'tool_not_forced:tool_choice'],
  ])('gives way to a forced tool where it can: %s (case 85)', (thinkingMode, expected, warnings) => {
    const content = {
      tools: [aTool()],
      toolChoice: { mode: 'required' },
      reasoning: { effort: 'high', show: 'text' },
    } as const;
    const request = flagged(content, { thinkingMode });
    expect(request.body).toMatchObject(expected);
    expect(request.warnings).toBe(warnings);
  });

  it('is named as lost where the model does not think', () => {
    const request = flagged({ reasoning: { effort: 'high', show: 'text' } });
    expect(request.warnings).toBe('thinking_off:reasoning_effort');
    expect(request.text).not.toContain('effort');
    expect(
      flagged({ reasoning: { effort: 'high', show: 'text' } }, { reasoning: true }).body['thinking'],
    ).toMatchObject({ type: 'adaptive' });
  });
});

describe('forms of answers of Messages upstreams', () => {
  const schema = new RawJson('{"type":"object","properties":{"10":{"type":"object"},"2":{}}}');

  it('are asked for by their schema, closed where it is to bind (case 118)', () => {
    const { text: sent } = build({ format: { kind: 'schema', schema, name: 'x' } });
    expect(sent).toContain(`"output_config":{"format":{"type":"json_schema","schema":${schema.text}}}`);
    const { body } = build({ format: { kind: 'schema', schema, strict: true } });
    expect(body['output_config']).toMatchObject({
      format: {
        schema: { additionalProperties: false, properties: { '10': { additionalProperties: false }, '2': {} } },
      },
    });
  });

  it('are asked for in words where nothing else says it (case 118)', () => {
    const { body, warnings } = build({ lead: [{ kind: 'text', text: 'Be kind.' }], format: { kind: 'json' } });
    expect(body['system']).toEqual([block('Be kind.'), block('Answer with one JSON object and nothing else.')]);
    expect(warnings).toBe('in_words:response_format');
    const format = { kind: 'schema', schema } as const;
    const worded = flagged({ format, tools: [aTool()] }, { structuredOutput: false });
    expect(worded.warnings).toBe('in_words:response_format');
    expect(JSON.stringify(worded.body['system'])).toContain(JSON.stringify(schema.text).slice(1, -1));
  });

  it('are asked for by a tool where the model takes no schema', () => {
    const { body, warnings } = flagged({ format: { kind: 'schema', schema } }, { structuredOutput: false });
    expect(body).toMatchObject({
      tools: [{ name: 'respond', input_schema: schema.value }],
      tool_choice: { type: 'tool', name: 'respond' },
    });
    expect(body['output_config']).toBeUndefined();
    expect(warnings).toBeUndefined();
  });
});
