import { aCall, refusalOf } from '../../../test/support/calls.js';
import { aContent, type Built, built } from '../../../test/support/translations.js';
import {
  type CallContent,
  type ImagePart,
  Losses,
  type Part,
  RawJson,
  type ToolResultPart,
  type Turn,
  type UpstreamTarget,
} from '../../call/index.js';
import { ChatCompletionsProtocol } from './chat-completions.protocol.js';
import { ChatCompletionsUpstream } from './chat-completions.upstream.js';

const upstream = new ChatCompletionsUpstream();
const call = aCall(new ChatCompletionsProtocol(), { model: 'alias', messages: [] });

const build = (content: Partial<CallContent>, target: Partial<UpstreamTarget> = {}): Built =>
  built(upstream, { call, content: aContent(content) }, { stream: false, ...target });
const withFlags = (content: Partial<CallContent>, flags: UpstreamTarget['flags']): Built => build(content, { flags });
const messagesOf = (turns: readonly Turn[], flags: UpstreamTarget['flags'] = {}): unknown =>
  withFlags({ turns }, flags).body['messages'];
const refused = (content: Partial<CallContent>, flags: UpstreamTarget['flags'] = {}): unknown =>
  refusalOf(() => withFlags(content, flags)).details;

const text = (said: string): Part => ({ kind: 'text', text: said });
const user = (...parts: readonly Part[]): Turn => ({ role: 'user', parts });
const assistant = (...parts: readonly Part[]): Turn => ({ role: 'assistant', parts });
const toolCall = (id: string, more: object = {}): Part => ({
  kind: 'tool-call',
  id,
  name: 'f',
  arguments: '{}',
  ...more,
});
const result = (id: string, ...parts: readonly Part[]): ToolResultPart => ({
  kind: 'tool-result',
  id,
  parts: parts.filter((part) => part.kind === 'text' || part.kind === 'image' || part.kind === 'file'),
  isError: false,
});
const IMAGE: ImagePart = {
  kind: 'image',
  source: { from: 'data', mediaType: 'image/png', base64: 'AAAA' },
  detail: 'original',
};
const IMAGE_SENT = { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } };
const writtenCall = (id: string): object => ({ id, type: 'function', function: { name: 'f', arguments: '{}' } });
const tool = (name: string, more: object = {}): CallContent['tools'][number] => ({
  name,
  schema: undefined,
  path: 'tools[3]',
  ...more,
});
interface Ids {
  readonly tool_calls?: readonly { readonly id: string }[];
  readonly tool_call_id?: string;
}

const EMPTY_SCHEMA = { type: 'object', properties: {} };

describe('Chat Completions requests from content', () => {
  it('say nothing that nobody asked for', () => {
    expect(build({}, { model: 'vendor/m' })).toEqual({
      body: { model: 'vendor/m', messages: [{ role: 'user', content: 'Hello' }] },
      text: '{"model":"vendor/m","messages":[{"role":"user","content":"Hello"}]}',
      headers: { 'content-type': 'application/json', accept: 'application/json' },
      stopsSent: 0,
      warnings: undefined,
    });
  });

  it('ask for a stream and its usage', () => {
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
  ])('limit the output by %s of the client and %s of its money', (outputLimit, affordable, members) => {
    const { body, warnings } = build({ outputLimit }, { outputLimit: affordable, maxOutputTokens: 1000 });
    expect(body).toEqual({ model: 'm', messages: [{ role: 'user', content: 'Hello' }], ...members });
    expect(warnings).toBe(outputLimit === 5000 ? 'clamped:max_tokens' : undefined);
    const renamed = build({ outputLimit: 5 }, { flags: { maxTokensField: 'max_completion_tokens' } }).body;
    expect(renamed).toMatchObject({ max_completion_tokens: 5 });
  });

  it('carry settings by their names here', () => {
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

  it('leave out what is usual, what strangers need not know, and what many servers refuse', () => {
    const { body } = build({ verbosity: 'low', cacheKey: 'k', serviceTier: 'auto', endUser: '{"account":"a b"}' });
    expect(Object.keys(body)).toEqual(['model', 'messages', 'user']);
    expect(body['user']).toMatch(/^[0-9a-f]{64}$/);
  });

  it('drop by name what the upstream lacks, or refuse it for a strict key (case 119)', () => {
    const sampling = { temperature: 1, topK: 5, topLogprobs: 0 };
    expect(build({ sampling }).warnings).toBe('unsupported_parameter:logprobs,unsupported_parameter:top_k');
    expect(withFlags({ sampling }, { topK: true }).body).toMatchObject({ temperature: 1, top_k: 5 });
    const chosen = { temperature: 0.5, topP: 1, frequencyPenalty: 0, seed: 7 };
    const fixed = withFlags({ sampling: chosen }, { samplingFixed: true });
    expect(fixed.body).toMatchObject({ seed: 7 });
    expect(fixed.body).not.toHaveProperty('temperature');
    expect(fixed.warnings).toBe('unsupported_parameter:temperature');
    const strict = (): unknown => built(upstream, { call, content: aContent({ sampling }) }, {}, new Losses(true));
    expect(refusalOf(strict).details).toEqual({ param: 'logprobs', fault: 'unsupported_parameter' });
  });

  it('tell the upstream as many stop texts as it takes (case 35)', () => {
    const stop = ['a', 'b', 'c', 'd', 'e'];
    expect(build({ stop })).toMatchObject({ body: { stop: ['a', 'b', 'c', 'd'] }, stopsSent: 4 });
    expect(withFlags({ stop }, { stopMax: 0 })).toMatchObject({ stopsSent: 0 });
    expect(withFlags({ stop }, { stopMax: 0 }).body).not.toHaveProperty('stop');
  });
});

describe('messages of Chat Completions requests from content', () => {
  it('begin with one instruction (case 74)', () => {
    const lead = [
      { kind: 'text' as const, text: 'A', cache: {} },
      { kind: 'text' as const, text: 'B' },
    ];
    const first = { role: 'system', content: 'A\n\nB' };
    expect(build({ lead }).body['messages']).toEqual([first, { role: 'user', content: 'Hello' }]);
    expect(withFlags({ lead }, { developerRole: true }).text).toContain('{"role":"developer","content":"A\\n\\nB"}');
  });

  it('have instructions within the conversation where the upstream takes them, else in tags of the user (case 74)', () => {
    const turns: Turn[] = [user(text('a')), { role: 'system', parts: [text('b')] }, user(text('c'))];
    expect(messagesOf(turns, { midSystem: 'native' })).toEqual([
      { role: 'user', content: 'a' },
      { role: 'system', content: 'b' },
      { role: 'user', content: 'c' },
    ]);
    const said = ['a', '<system-reminder>\nb\n</system-reminder>', 'c'].map((part) => ({ type: 'text', text: part }));
    expect(messagesOf(turns)).toEqual([{ role: 'user', content: said }]);
  });

  it('put calls into one message and results right behind it (cases 66, 67 and 70)', () => {
    const turns = [
      user(text('a')),
      assistant(text('b'), toolCall('x'), toolCall('y')),
      user(text('c'), result('y', text('two'), IMAGE), IMAGE, result('x', text('one'))),
      assistant(text('d')),
    ];
    expect(messagesOf(turns)).toEqual([
      { role: 'user', content: 'a' },
      { role: 'assistant', content: 'b', tool_calls: [writtenCall('x'), writtenCall('y')] },
      { role: 'tool', tool_call_id: 'x', content: 'one' },
      { role: 'tool', tool_call_id: 'y', content: 'two' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Image returned by tool call y:' },
          IMAGE_SENT,
          { type: 'text', text: 'c' },
          IMAGE_SENT,
        ],
      },
      { role: 'assistant', content: 'd' },
    ]);
  });

  it('make up for results that are missing or have no call, by name (case 69)', () => {
    const { body, warnings } = build({ turns: [assistant(toolCall('x')), user(text('a'), result('z', text('b')))] });
    expect(body['messages']).toMatchObject([
      { role: 'assistant', content: null },
      { role: 'tool', tool_call_id: 'x', content: 'Error: [no result]' },
      { role: 'user', content: [{ text: 'a' }, { text: 'Result of the tool call z:' }, { text: 'b' }] },
    ]);
    expect(warnings).toContain('tool_result_missing:messages');
  });

  it('say that a tool has failed, or given nothing (cases 71 and 72)', () => {
    const failed = { ...result('x', text('Error: no')), isError: true } as Part;
    const odd = { ...result('y', text('no')), isError: true } as Part;
    const turns = [
      user(text('a')),
      assistant(toolCall('x'), toolCall('y'), toolCall('z')),
      user(failed, odd, result('z')),
    ];
    const contents = (flags = {}): unknown[] =>
      (messagesOf(turns, flags) as readonly { role: string; content: unknown }[])
        .filter(({ role }) => role === 'tool')
        .map(({ content }) => content);
    expect(contents()).toEqual(['Error: no', 'Error: no', '']);
    expect(contents({ emptyToolResultText: true })).toEqual(['Error: no', 'Error: no', '(no output)']);
  });

  it('name calls and their results by ids that the upstream allows (case 64)', () => {
    const long = `toolu:${'x'.repeat(80)}`;
    const turns = [
      user(text('a')),
      assistant(toolCall(long), toolCall('call:9')),
      user(result(long), result('call:9')),
    ];
    const ids = (flags = {}): string[][] => {
      const messages = messagesOf(turns, flags) as readonly Ids[];
      const calls = messages.flatMap(({ tool_calls = [] }) => tool_calls.map(({ id }) => id));
      return [calls, messages.flatMap(({ tool_call_id = [] }) => tool_call_id)];
    };
    const [calls, results] = ids();
    expect(calls).toEqual(results);
    expect(calls).toEqual([expect.stringMatching(/^toolu:x{49}_[0-9a-f]{8}$/), 'call:9']);
    const [short, answered] = ids({ toolIdStyle: 'alphanumeric9' });
    expect(short).toEqual(answered);
    expect(short!.every((id) => /^[A-Za-z0-9]{9}$/.test(id))).toBe(true);
    expect(new Set(short).size).toBe(2);
    const kept = [user(text('a')), assistant(toolCall('aB3dE6gH9')), user(result('aB3dE6gH9'))];
    expect(messagesOf(kept, { toolIdStyle: 'alphanumeric9' })).toEqual(messagesOf(kept));
  });

  it('give thoughts back beside the calls they led to, to their own family, where it wants them (case 87)', () => {
    const thought = (family: string): Part => ({
      kind: 'reasoning',
      text: 'Hm.',
      opaque: { kind: 'text', family, data: '', text: 'Hm.' },
    });
    const signed: Part = {
      kind: 'reasoning',
      text: 'Hm.',
      opaque: { kind: 'signature', family: 'f', data: 's', text: 'Hm.' },
    };
    const replayed = (part: Part, flags: object): unknown =>
      (messagesOf([user(text('a')), assistant(part, toolCall('x')), user(result('x'))], { ...flags }) as unknown[])[1];
    const plain = { role: 'assistant', content: null, tool_calls: [writtenCall('x')] };
    expect(replayed(thought('f'), { replayReasoning: true })).toEqual({ ...plain, reasoning_content: 'Hm.' });
    expect(replayed(thought('f'), { replayReasoning: true, reasoningField: 'reasoning' })).toEqual({
      ...plain,
      reasoning: 'Hm.',
    });
    expect(replayed(thought('f'), { replayReasoning: true, reasoningField: 'none' })).toEqual(plain);
    expect(replayed(thought('f'), {})).toEqual(plain);
    expect(replayed(thought('g'), { replayReasoning: true })).toEqual(plain);
    expect(replayed(signed, { replayReasoning: true })).toEqual(plain);
    const told = [user(text('a')), assistant(thought('f')), user(text('b'))];
    expect(messagesOf(told, { replayReasoning: true })).toEqual([
      {
        role: 'user',
        content: [
          { type: 'text', text: 'a' },
          { type: 'text', text: 'b' },
        ],
      },
    ]);
  });

  it('have refusals in their own member, nothing an assistant cannot have said, and a last word of it by name (cases 76 and 77)', () => {
    const { body, warnings } = build({
      turns: [
        user(text('a')),
        assistant(IMAGE, { kind: 'refusal', text: 'No.' }),
        user(text('b')),
        assistant(text('It is')),
      ],
    });
    expect(body['messages']).toEqual([
      { role: 'user', content: 'a' },
      { role: 'assistant', content: null, refusal: 'No.' },
      { role: 'user', content: 'b' },
      { role: 'assistant', content: 'It is' },
    ]);
    expect(warnings).toBe('prefill:messages,unsupported_content:messages');
  });

  it('hold any number of images that one tool returned', () => {
    const images = Array.from({ length: 200_000 }, () => IMAGE);
    const { body } = build({
      turns: [user(text('a')), assistant(toolCall('x')), user({ ...result('x'), parts: images })],
    });
    const messages = body['messages'] as { content: unknown[] }[];
    expect(messages.at(-1)?.content).toHaveLength(400_000);
  });

  it('hold files and sounds where the upstream takes them', () => {
    const pdf: Part = {
      kind: 'file',
      source: { from: 'data', mediaType: 'application/pdf', base64: 'JVBE' },
      name: 'a.pdf',
    };
    const plain: Part = { kind: 'file', source: { from: 'text', text: 'b' }, name: 'b.txt' };
    const sound: Part = { kind: 'audio', format: 'wav', base64: 'AAAA' };
    expect(messagesOf([user(pdf, plain, sound)], { audio: true })).toEqual([
      {
        role: 'user',
        content: [
          { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBE' } },
          { type: 'text', text: 'b.txt\nb' },
          { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } },
        ],
      },
    ]);
    expect(refused({ turns: [user(sound)] })).toMatchObject({ param: 'input_audio' });
    const far = { from: 'url', url: 'https://a.example/a' } as const;
    expect(refused({ turns: [user({ kind: 'file', source: far })] })).toMatchObject({ param: 'file_url' });
    expect(refused({ turns: [user({ kind: 'image', source: far })] }, { imageUrl: false })).toMatchObject({
      param: 'image_url',
    });
    expect(messagesOf([user({ kind: 'image', source: far, detail: 'low' })])).toEqual([
      { role: 'user', content: [{ type: 'image_url', image_url: { url: far.url, detail: 'low' } }] },
    ]);
  });
});

describe('tools of Chat Completions requests from content', () => {
  const tools = [tool('f', { description: 'F.', strict: true }), tool('read', { namespace: 'files' })];
  const functions = [
    { type: 'function', function: { name: 'f', description: 'F.', parameters: EMPTY_SCHEMA, strict: true } },
    { type: 'function', function: { name: 'files__read', parameters: EMPTY_SCHEMA } },
  ];

  it('are functions, with the text of their schemas (cases 59 and 61)', () => {
    expect(build({ tools, parallelTools: false }).body).toMatchObject({
      tools: functions,
      tool_choice: 'auto',
      parallel_tool_calls: false,
    });
    expect(withFlags({ tools }, { strictSchema: false }).text).not.toContain('strict');
    const schema = new RawJson('{"type":"object","properties":{"10":1.0,"2":9007199254740993}}');
    expect(build({ tools: [tool('g', { schema })] }).text).toContain(schema.text);
  });

  it('merge alternatives at the root for who promises to obey the schema (case 59)', () => {
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
  ] as const)('are chosen by %j (case 56)', (toolChoice, choice) => {
    expect(build({ tools, toolChoice }).body['tool_choice']).toEqual(choice);
    expect(build({ tools: [tool('read', { freeform: {} }), ...tools], toolChoice }).body['tool_choice']).toEqual(
      choice,
    );
    expect(build({ toolChoice, parallelTools: false }).text).not.toMatch(/tool/);
  });

  it('are left out when they are not allowed, unless the upstream can be told so (case 58)', () => {
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

  it('take any text within JSON, unless the upstream knows such tools (case 62)', () => {
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

  it('that the upstream would have to run are asked for where it can, else left out by name (case 61)', () => {
    const hostedTools = [{ type: 'web_search', path: 'tools[2]' }];
    expect(build({ tools, hostedTools }).warnings).toBe('unsupported_tool:tools[2]');
    expect(withFlags({ hostedTools }, { hostedWebSearch: true }).body).toMatchObject({ web_search_options: {} });
    expect(refused({ hostedTools })).toEqual({ param: 'tools[2]', fault: 'unsupported_parameter' });
  });
});

describe('efforts and formats of Chat Completions requests from content', () => {
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
  ] as const)('%j is, for a model with %j, the effort %s (case 84)', (wish, flags, effort, warnings) => {
    const request = withFlags({ reasoning: { show: 'text', ...wish } }, flags);
    expect(request.body['reasoning_effort']).toBe(effort);
    expect(request.warnings).toBe(warnings);
  });

  const schema = new RawJson('{"type":"object","properties":{"10":{},"2":{}}}');

  it('ask for JSON, or for what a schema says (case 118)', () => {
    expect(build({ format: { kind: 'json' } }).body['response_format']).toEqual({ type: 'json_object' });
    const { body, text: written } = build({ format: { kind: 'schema', schema, strict: true } });
    expect(body['response_format']).toMatchObject({
      type: 'json_schema',
      json_schema: { name: 'output', strict: true },
    });
    expect(written).toContain(`"schema":${schema.text}`);
  });

  it('ask in words where the upstream knows no formats (case 118)', () => {
    const { body, warnings } = withFlags({ format: { kind: 'schema', schema } }, { structuredOutput: false });
    expect(body).not.toHaveProperty('response_format');
    expect(body['messages']).toMatchObject([{ role: 'system', content: expect.stringContaining(schema.text) }, {}]);
    expect(warnings).toBe('in_words:response_format');
  });
});
