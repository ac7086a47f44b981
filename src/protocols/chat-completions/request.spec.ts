import fc from 'fast-check';
import { refusalOf } from '../../../test/support/calls.js';
import { contentOf } from '../../../test/support/translations.js';
import { type CallContent, type Part, TranslationWarnings } from '../contract/index.js';
import { AppError } from '../../platform/shared/index.js';
import { ChatCompletionsProtocol } from './protocol.js';

const protocol = new ChatCompletionsProtocol();
const HELLO = { role: 'user', content: 'Hello' };

const parsed = (body: object): CallContent => contentOf(protocol, { model: 'm', messages: [HELLO], ...body });
const partsOf = (...messages: readonly object[]): readonly Part[] =>
  parsed({ messages }).turns.flatMap(({ parts }) => parts);
const refused = (body: object): unknown => refusalOf(() => parsed(body)).details;
const text = (said: string): Part => ({ kind: 'text', text: said });
const PNG = 'data:image/png;base64,iVBORw0=';

describe('Chat Completions request parsing', () => {
  it('parses settings', () => {
    const content = parsed({
      max_tokens: 100,
      temperature: 0,
      top_p: 0.5,
      presence_penalty: -1,
      frequency_penalty: 1,
      seed: 7,
      logit_bias: { 5: -100 },
      logprobs: true,
      top_logprobs: 3,
      stop: 'END',
      reasoning_effort: 'high',
      verbosity: 'low',
      user: 'u',
      prompt_cache_key: 'k',
      service_tier: 'flex',
      parallel_tool_calls: false,
      web_search_options: {},
    });
    expect(content).toMatchObject({
      outputLimit: 100,
      sampling: { temperature: 0, topP: 0.5, presencePenalty: -1, frequencyPenalty: 1, seed: 7, topLogprobs: 3 },
      stop: ['END'],
      reasoning: { effort: 'high', show: 'text' },
      verbosity: 'low',
      endUser: 'u',
      cacheKey: 'k',
      serviceTier: 'flex',
      parallelTools: false,
      hostedTools: [{ type: 'web_search', path: 'web_search_options' }],
    });
    expect(content.sampling.logitBias?.text).toBe('{"5":-100}');
  });

  it('drops assistant images with a warning (case 77)', () => {
    const shown = {
      role: 'assistant',
      content: [
        { type: 'image_url', image_url: { url: PNG } },
        { type: 'text', text: 'b' },
      ],
    };
    const warnings = new TranslationWarnings(false);
    const { turns } = contentOf(protocol, { model: 'm', messages: [HELLO, shown] }, warnings);
    expect(turns[1]).toEqual({ role: 'assistant', parts: [text('b')] });
    expect(warnings.header).toBe('unsupported_content:messages[1].content');
  });

  it('treats null as absent and ignores unknown members (case 72)', () => {
    const nothing = [
      'stop',
      'tools',
      'functions',
      'tool_choice',
      'function_call',
      'response_format',
      'max_tokens',
      'n',
      'modalities',
      'audio',
      'web_search_options',
      'temperature',
      'logprobs',
      'reasoning_effort',
      'user',
      'stream_options',
    ];
    const nulls = Object.fromEntries(nothing.map((name) => [name, null]));
    const unknown = { top_k: -1, min_p: 'x', thinking: { type: 'enabled' }, store: true, metadata: {}, prediction: 1 };
    expect(parsed({ ...nulls, ...unknown })).toEqual(parsed({}));
  });

  it.each([
    [{ n: 2 }, 'n'],
    [{ modalities: ['text', 'audio'] }, 'modalities'],
    [{ modalities: ['audio'], audio: { voice: 'x' } }, 'audio'],
    [{ moderation: { model: 'm', policy: { output: { mode: 'block' } } } }, 'moderation.policy.output.mode'],
    [{ messages: [HELLO, { role: 'assistant', audio: { id: 'a' } }] }, 'messages[1].audio'],
    [
      { messages: [{ role: 'user', content: [{ type: 'file', file: { file_id: 'x' } }] }] },
      'messages[0].content[0].file.file_id',
    ],
  ])('rejects what no other protocol supports: %j', (body, param) => {
    expect(refused(body)).toEqual({ param, fault: 'unsupported_parameter' });
  });

  it.each([
    [{ max_tokens: 0 }, 'max_tokens'],
    [{ max_completion_tokens: 1.5 }, 'max_completion_tokens'],
    [{ temperature: 3 }, 'temperature'],
    [{ top_p: '1' }, 'top_p'],
    [{ stop: [1] }, 'stop[0]'],
    [{ stop: 1 }, 'stop'],
    [{ response_format: { type: 'xml' } }, 'response_format.type'],
    [{ response_format: { type: 'json_schema' } }, 'response_format.json_schema'],
    [{ tools: {} }, 'tools'],
    [{ tools: [{ type: 'telepathy' }] }, 'tools[0].type'],
    [{ tools: [{ type: 'function', function: { name: '' } }] }, 'tools[0].function.name'],
    [{ tools: [{ type: 'function', function: { name: 'f', parameters: [] } }] }, 'tools[0].function.parameters'],
    [{ tool_choice: 'perhaps' }, 'tool_choice'],
    [{ tool_choice: { type: 'function', function: { name: 'f' } } }, 'tool_choice.function.name'],
    [{ function_call: { name: 'f' } }, 'function_call.name'],
    [{ messages: [] }, 'messages'],
    [{ messages: [null] }, 'messages[0]'],
    [{ messages: [{ role: 'system', content: 'Be brief.' }] }, 'messages'],
    [{ messages: [{ role: 'user', content: '' }] }, 'messages'],
    [{ messages: [{ content: 'Hello' }] }, 'messages[0].role'],
    [{ messages: [{ role: 'oracle', content: 'Hello' }] }, 'messages[0].role'],
    [{ messages: [{ role: 'user', content: 1 }] }, 'messages[0].content'],
    [{ messages: [{ role: 'user', content: [{ type: 'hologram' }] }] }, 'messages[0].content[0].type'],
    [{ messages: [{ role: 'user', content: [{ type: '__proto__' }] }] }, 'messages[0].content[0].type'],
    [
      { messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'x' } }] }] },
      'messages[0].content[0].image_url.url',
    ],
    [{ messages: [{ role: 'system', content: [{ type: 'refusal', refusal: 'No.' }] }] }, 'messages[0].content[0].type'],
    [{ messages: [HELLO, { role: 'tool', content: 'x' }] }, 'messages[1].tool_call_id'],
    [
      { messages: [HELLO, { role: 'assistant', tool_calls: [{ id: 'a', function: {} }] }] },
      'messages[1].tool_calls[0].function.name',
    ],
  ])('names malformed members: %j (case 72)', (body, param) => {
    expect(refused(body)).toEqual({ param, fault: 'invalid_value' });
  });

  it('parses or rejects any input by name (case 72)', () => {
    const odd = fc.jsonValue({ maxDepth: 3 });
    const types = fc.constantFrom('text', 'image_url', 'file', 'function', 'custom');
    const objects = fc.array(
      fc.record({ type: types, id: odd, text: odd, image_url: odd, file: odd, function: odd, custom: odd }),
    );
    const message = fc.record({
      role: fc.constantFrom('system', 'user', 'assistant', 'tool', 'function'),
      content: fc.oneof(odd, objects),
      tool_calls: fc.oneof(odd, objects),
      tool_call_id: odd,
      name: odd,
    });
    const members = fc.record({
      tools: fc.oneof(odd, objects),
      tool_choice: odd,
      functions: odd,
      stop: odd,
      response_format: odd,
    });
    const property = fc.property(fc.array(message, { maxLength: 3 }), members, (messages, request) => {
      try {
        parsed({ messages, ...request });
      } catch (error) {
        expect(error).toBeInstanceOf(AppError);
        expect(error).toHaveProperty('details.param', expect.any(String));
      }
    });
    fc.assert(property, { numRuns: 200 });
  });

  it('parses leading and mid-conversation instructions (case 74)', () => {
    const { lead, turns } = parsed({
      messages: [
        {
          role: 'developer',
          content: [
            { type: 'text', text: 'A' },
            { type: 'text', text: '' },
          ],
        },
        { role: 'system', content: 'B' },
        HELLO,
        { role: 'system', content: 'C' },
      ],
    });
    expect(lead).toEqual([text('A'), text('B')]);
    expect(turns).toEqual([
      { role: 'user', parts: [text('Hello')] },
      { role: 'system', parts: [text('C')] },
    ]);
  });

  it('merges adjacent messages of the same role (case 73)', () => {
    const messages = [
      HELLO,
      { role: 'user', name: 'u', content: 'World' },
      { role: 'assistant', content: 'a' },
      { role: 'assistant', content: null, refusal: 'b' },
    ];
    expect(parsed({ messages }).turns).toEqual([
      { role: 'user', parts: [text('Hello'), text('World')] },
      { role: 'assistant', parts: [text('a'), { kind: 'refusal', text: 'b' }] },
    ]);
  });

  it('parses images, audio and files of users', () => {
    const content = [
      { type: 'image_url', image_url: { url: PNG, detail: 'low' } },
      { type: 'image_url', image_url: { url: 'https://a.example/b.png' }, cache_control: { type: 'ephemeral' } },
      { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } },
      { type: 'file', file: { file_data: 'data:application/pdf;base64,JVBE', filename: 'a.pdf' } },
      { type: 'file', file: { file_data: 'JVBE' } },
    ];
    const pdf = { from: 'data', mediaType: 'application/pdf', base64: 'JVBE' };
    expect(partsOf({ role: 'user', content })).toEqual([
      { kind: 'image', source: { from: 'data', mediaType: 'image/png', base64: 'iVBORw0=' }, detail: 'low' },
      { kind: 'image', source: { from: 'url', url: 'https://a.example/b.png' } },
      { kind: 'audio', format: 'wav', base64: 'AAAA' },
      { kind: 'file', source: pdf, name: 'a.pdf' },
      { kind: 'file', source: pdf },
    ]);
  });

  it('parses calls and results, which may contain images', () => {
    const calls = [
      { id: 'a', type: 'function', function: { name: 'f', arguments: '{"n":9007199254740993}' } },
      { id: 'b', function: { name: 'f', arguments: '' } },
      { id: 'c', type: 'custom', custom: { name: 'exec', input: 'ls' } },
    ];
    const messages = [
      HELLO,
      { role: 'assistant', content: '', reasoning_content: 'Hm.', tool_calls: calls },
      { role: 'tool', tool_call_id: 'c', content: 'out' },
      { role: 'tool', tool_call_id: 'a', content: [{ type: 'image_url', image_url: { url: PNG } }] },
      { role: 'tool', tool_call_id: 'b', content: null },
    ];
    expect(partsOf(...messages).slice(1)).toEqual([
      { kind: 'tool-call', id: 'a', name: 'f', arguments: '{"n":9007199254740993}' },
      { kind: 'tool-call', id: 'b', name: 'f', arguments: '{}' },
      { kind: 'tool-call', id: 'c', name: 'exec', arguments: 'ls', isFreeform: true },
      { kind: 'tool-result', id: 'c', parts: [text('out')], isError: false, isFreeform: true },
      { kind: 'tool-result', id: 'a', parts: [expect.objectContaining({ kind: 'image' })], isError: false },
      { kind: 'tool-result', id: 'b', parts: [], isError: false },
    ]);
  });

  it('parses legacy calls, matching results by name (case 65)', () => {
    const call = { name: 'f', arguments: '{}' };
    const result = (content: string): object => ({ role: 'function', name: 'f', content });
    const messages = [
      HELLO,
      { role: 'assistant', content: null, function_call: call },
      result('one'),
      { role: 'assistant', function_call: call },
      result('two'),
    ];
    expect(
      partsOf(...messages)
        .map((part) => 'id' in part && part.id)
        .slice(1),
    ).toEqual(['function_call_1', 'function_call_1', 'function_call_2', 'function_call_2']);
    expect(
      parsed({ messages, functions: [{ name: 'f', parameters: { 10: 1, 2: 2 } }], function_call: { name: 'f' } }),
    ).toMatchObject({
      tools: [{ name: 'f', schema: { text: '{"2":2,"10":1}' } }],
      toolChoice: { mode: 'one', name: 'f' },
      parallelTools: false,
    });
  });
});

describe('Chat Completions tool parsing', () => {
  const tools = [
    { type: 'function', function: { name: 'f', description: 'F.', parameters: null, strict: true } },
    {
      type: 'custom',
      custom: { name: 'exec', format: { type: 'grammar', grammar: { syntax: 'lark', definition: 'x' } } },
    },
    { type: 'custom', custom: { name: 'free', format: { type: 'text' } } },
  ];

  it('keeps schemas as text (cases 2 and 59)', () => {
    const json = `{"model":"m","messages":[{"role":"user","content":"Hi"}],"tools":[{"type":"function","function":{"name":"f","parameters":{ "10":1.0,"2":9007199254740993 }}}]}`;
    expect(contentOf(protocol, json).tools[0]?.schema?.text).toBe('{ "10":1.0,"2":9007199254740993 }');
  });

  it('parses functions and freeform tools', () => {
    expect(parsed({ tools }).tools).toEqual([
      { name: 'f', description: 'F.', schema: undefined, strict: true, path: 'tools[0]' },
      {
        name: 'exec',
        schema: undefined,
        freeform: { grammar: { syntax: 'lark', definition: 'x' } },
        path: 'tools[1]',
      },
      { name: 'free', schema: undefined, freeform: {}, path: 'tools[2]' },
    ]);
  });

  it.each([
    ['auto', { mode: 'auto' }],
    ['none', { mode: 'none' }],
    ['required', { mode: 'required' }],
    [
      { type: 'function', function: { name: 'f' } },
      { mode: 'one', name: 'f' },
    ],
    [
      { type: 'custom', custom: { name: 'exec' } },
      { mode: 'one', name: 'exec' },
    ],
    [
      {
        type: 'allowed_tools',
        allowed_tools: { mode: 'required', tools: [{ type: 'custom', custom: { name: 'exec' } }] },
      },
      { mode: 'required', allowed: ['exec'] },
    ],
  ])('parses the choice %j (cases 56 and 58)', (tool_choice, toolChoice) => {
    expect(parsed({ tools, tool_choice }).toolChoice).toEqual(toolChoice);
  });
});

describe('Chat Completions format parsing', () => {
  it.each([
    [{ type: 'text' }, { kind: 'text' }],
    [{ type: 'json_object' }, { kind: 'json' }],
    [{ type: 'json_schema', json_schema: { name: 'a' } }, { kind: 'json' }],
    [
      { type: 'json_schema', json_schema: { name: 'a', strict: true, schema: { type: 'object' } } },
      { kind: 'schema', name: 'a', strict: true, schema: { text: '{"type":"object"}' } },
    ],
  ])('parses %j (case 118)', (response_format, format) => {
    expect(parsed({ response_format }).format).toMatchObject(format);
  });
});
