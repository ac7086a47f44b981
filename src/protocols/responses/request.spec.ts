import { refusalOf } from '../../../test/support/calls.js';
import { contentOf } from '../../../test/support/translations.js';
import { type CallContent, type OpaqueReasoning, TranslationWarnings } from '../contract/index.js';
import { ResponsesProtocol } from './protocol.js';

const protocol = new ResponsesProtocol();
const read = (body: object, warnings?: TranslationWarnings): CallContent =>
  contentOf(protocol, { model: 'm', input: 'Hi', ...body }, warnings);
const readInput = (...input: readonly unknown[]): CallContent => read({ input });
const refused = (body: object): unknown => refusalOf(() => read(body)).details;
const user = { role: 'user', content: 'Hi' };
const OPAQUE: OpaqueReasoning = { kind: 'signature', family: 'f', data: 'sig', text: 'Compare both.' };
const SEALED = `rly1.${JSON.stringify([OPAQUE.kind, OPAQUE.family, OPAQUE.data, OPAQUE.text])}`;

describe('Responses conversation parsing', () => {
  it('parses a string input as one message', () => {
    expect(read({})).toMatchObject({ lead: [], turns: [{ role: 'user', parts: [{ kind: 'text', text: 'Hi' }] }] });
  });

  it('parses leading and later instructions (case 74)', () => {
    const input = [
      { role: 'system', content: 'B' },
      { type: 'message', role: 'developer', id: 'msg_1', content: [{ type: 'input_text', text: 'C' }] },
      user,
      { role: 'developer', content: 'D' },
    ];
    const { lead, turns } = read({ instructions: 'A', input });
    expect(lead.map(({ text }) => text)).toEqual(['A', 'B', 'C']);
    expect(turns.map(({ role }) => role)).toEqual(['user', 'system']);
  });

  it('merges adjacent items of a role, including calls and reasoning (cases 66 and 73)', () => {
    const { turns } = readInput(
      user,
      { type: 'reasoning', id: 'rs_1', summary: [], content: null, encrypted_content: SEALED },
      {
        type: 'message',
        role: 'assistant',
        id: 'msg_1',
        status: 'completed',
        phase: 'commentary',
        content: [{ type: 'output_text', text: 'Let me see.' }],
      },
      {
        type: 'function_call',
        id: 'fc_1',
        call_id: 'c1',
        name: 'spawn',
        namespace: 'agents',
        arguments: '{"n":9007199254740993}',
      },
      { type: 'custom_tool_call', call_id: 'c2', name: 'exec', input: 'ls' },
      { type: 'function_call_output', call_id: 'c1', output: 'done' },
      { type: 'custom_tool_call_output', call_id: 'c2', output: [{ type: 'input_text', text: 'a.ts' }] },
    );
    expect(turns).toEqual([
      { role: 'user', parts: [{ kind: 'text', text: 'Hi' }] },
      {
        role: 'assistant',
        parts: [
          { kind: 'reasoning', text: '', opaque: OPAQUE },
          { kind: 'text', text: 'Let me see.' },
          { kind: 'tool-call', id: 'c1', name: 'spawn', namespace: 'agents', arguments: '{"n":9007199254740993}' },
          { kind: 'tool-call', id: 'c2', name: 'exec', arguments: 'ls', isFreeform: true },
        ],
      },
      {
        role: 'user',
        parts: [
          { kind: 'tool-result', id: 'c1', parts: [{ kind: 'text', text: 'done' }], isError: false },
          { kind: 'tool-result', id: 'c2', parts: [{ kind: 'text', text: 'a.ts' }], isError: false, isFreeform: true },
        ],
      },
    ]);
  });

  it('drops reasoning not sealed by this relay (cases 79 and 83)', () => {
    for (const encrypted_content of ['gAAAA', `x${SEALED}`, null, undefined]) {
      expect(readInput(user, { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content }).turns).toHaveLength(1);
    }
  });

  it('parses all content parts', () => {
    const content = [
      { type: 'input_text', text: 'See:', prompt_cache_breakpoint: { mode: 'explicit', ttl: '30m' } },
      { type: 'input_image', image_url: 'data:image/PNG;base64,aWNvbg==', detail: 'high' },
      { type: 'input_image', image_url: 'https://example.com/a.png', detail: 'auto' },
      { type: 'input_file', filename: 'a.pdf', file_data: 'data:application/pdf;base64,cGRm' },
      { type: 'input_file', file_data: 'cGRm' },
      { type: 'input_file', file_url: 'https://example.com/a.pdf' },
      { type: 'input_file', filename: 'a.txt', file_data: 'data:text/plain;base64,SMOpbGxv' },
      { type: 'input_audio', input_audio: { data: 'd2F2', format: 'wav' } },
    ];
    expect(readInput({ role: 'user', content }).turns[0]?.parts).toEqual([
      { kind: 'text', text: 'See:', cache: { ttl: '30m' } },
      { kind: 'image', source: { from: 'data', mediaType: 'image/png', base64: 'aWNvbg==' }, detail: 'high' },
      { kind: 'image', source: { from: 'url', url: 'https://example.com/a.png' } },
      { kind: 'file', source: { from: 'data', mediaType: 'application/pdf', base64: 'cGRm' }, name: 'a.pdf' },
      { kind: 'file', source: { from: 'data', mediaType: 'application/pdf', base64: 'cGRm' } },
      { kind: 'file', source: { from: 'url', url: 'https://example.com/a.pdf' } },
      { kind: 'file', source: { from: 'text', text: 'Héllo' }, name: 'a.txt' },
      { kind: 'audio', format: 'wav', base64: 'd2F2' },
    ]);
  });

  it('parses images in results (case 70)', () => {
    const output = [
      { type: 'input_text', text: '' },
      { type: 'input_image', image_url: 'https://example.com/a.png' },
    ];
    const { turns } = readInput(
      { type: 'function_call', call_id: 'c1', name: 'look', arguments: '' },
      { type: 'function_call_output', call_id: 'c1', output },
    );
    expect(turns[0]?.parts).toMatchObject([{ arguments: '{}' }]);
    expect(turns[1]?.parts).toMatchObject([{ kind: 'tool-result', parts: [{ kind: 'image' }] }]);
  });

  it('drops unsupported assistant content with a warning (case 77)', () => {
    const warnings = new TranslationWarnings(false);
    const content = [
      { type: 'output_text', text: 'See' },
      { type: 'input_image', image_url: 'https://example.com/a' },
    ];
    const { turns } = read({ input: [user, { role: 'assistant', content }] }, warnings);
    expect(turns[1]?.parts).toEqual([{ kind: 'text', text: 'See' }]);
    expect(warnings.header).toBe('unsupported_content:input[1].content');
  });

  it('drops items of hosted tools', () => {
    const types = ['web_search_call', 'mcp_list_tools', 'computer_call_output', 'program'];
    expect(readInput(user, ...types.map((type) => ({ type, id: 'x' }))).turns).toHaveLength(1);
  });

  it.each([
    [[user, { type: 'item_reference', id: 'msg_1' }], 'input[1]'],
    [[user, { id: 'msg_1' }], 'input[1]'],
    [[user, { type: 'hologram' }], 'input[1].type'],
    [[{ role: 'user', content: [{ type: 'input_video' }] }], 'input[0].content[0].type'],
    [[{ role: 'user', content: [{ type: 'input_image', file_id: 'file_1' }] }], 'input[0].content[0].file_id'],
  ])('rejects unsupported %j (case 78)', (input, param) => {
    expect(refused({ input })).toEqual({ param, fault: 'unsupported_parameter' });
  });

  it.each([
    ['', 'input'],
    [[], 'input'],
    [[{ role: 'user', content: null }], 'input'],
    [[{ role: 'user', content: [] }], 'input'],
    [[{ role: 'system', content: 'Hi' }], 'input'],
    [[{ role: 'assistant', content: 'Hi' }], 'input'],
    [[null], 'input[0]'],
    [['Hi'], 'input[0]'],
    [[{ role: 'tool', content: 'Hi' }], 'input[0].role'],
    [[{ role: 'user', content: 7 }], 'input[0].content'],
    [[{ role: 'user', content: [{ type: 'input_text' }] }], 'input[0].content[0].text'],
    [[{ role: 'user', content: [{ type: 'input_image', image_url: 'a.png' }] }], 'input[0].content[0].image_url'],
    [[{ type: 'function_call', call_id: 'c', name: '', arguments: '' }], 'input[0].name'],
    [[{ type: 'function_call_output', output: 'x' }], 'input[0].call_id'],
  ])('rejects malformed %j (case 72)', (input, param) => {
    expect(refused({ input })).toEqual({ param, fault: 'invalid_value' });
  });
});

describe('Responses tool parsing', () => {
  it('parses functions, freeform tools, namespaces and hosted tools (case 61)', () => {
    const { tools, hostedTools } = read({
      tools: [
        { type: 'function', name: 'f', description: null, parameters: { b: 1, a: 2 }, strict: null },
        { type: 'function', name: 'g', description: 'G.', parameters: null, strict: true },
        { type: 'custom', name: 'patch', format: { type: 'grammar', syntax: 'lark', definition: 'start: "x"' } },
        { type: 'namespace', name: 'agents', description: 'Agents.', tools: [{ type: 'function', name: 'spawn' }] },
        { type: 'web_search_preview_2025_03_11' },
        { type: 'tool_search' },
      ],
    });
    expect(tools).toMatchObject([
      { name: 'f', schema: { text: '{"b":1,"a":2}' } },
      { name: 'g', description: 'G.', schema: undefined, strict: true },
      { name: 'patch', freeform: { grammar: { syntax: 'lark', definition: 'start: "x"' } } },
      { name: 'spawn', namespace: 'agents', namespaceDescription: 'Agents.' },
    ]);
    expect(hostedTools).toEqual([
      { type: 'web_search', path: 'tools[4]' },
      { type: 'tool_search', path: 'tools[5]' },
    ]);
  });

  it('reads tools and settings from input items', () => {
    const { tools, reasoning, format } = read({
      reasoning: { effort: 'low', summary: 'auto' },
      input: [
        {
          type: 'additional_tools',
          role: 'developer',
          tools: [{ type: 'namespace', name: 'functions', tools: [{ type: 'custom', name: 'exec' }] }],
        },
        user,
        { type: 'configuration_update', reasoning: { effort: 'high' } },
        { type: 'configuration_update', text: { format: { type: 'json_object' } } },
      ],
    });
    expect(tools).toEqual([
      {
        name: 'exec',
        namespace: 'functions',
        schema: undefined,
        freeform: {},
        path: 'input[0].tools[0].tools[0]',
      },
    ]);
    expect(reasoning).toEqual({ effort: 'high', show: 'text' });
    expect(format).toEqual({ kind: 'json' });
  });

  const tools = [
    { type: 'function', name: 'f' },
    { type: 'namespace', name: 'n', tools: [{ type: 'custom', name: 'g' }] },
  ];

  it.each([
    [undefined, { mode: 'auto' }],
    [null, { mode: 'auto' }],
    ['none', { mode: 'none' }],
    ['required', { mode: 'required' }],
    [
      { type: 'function', name: 'f' },
      { mode: 'one', name: 'f' },
    ],
    [
      { type: 'custom', name: 'g' },
      { mode: 'one', name: 'g', namespace: 'n' },
    ],
    [
      { type: 'allowed_tools', mode: 'required', tools: [{ type: 'function', name: 'f' }, { type: 'web_search' }] },
      { mode: 'required', allowed: ['f'] },
    ],
  ])('parses the choice %j (case 56)', (tool_choice, expected) => {
    expect(read({ tools, tool_choice }).toolChoice).toEqual(expected);
  });

  it.each([
    [{ tools, tool_choice: { type: 'function', name: 'h' } }, 'tool_choice.name', 'invalid_value'],
    [{ tools, tool_choice: 'any' }, 'tool_choice', 'invalid_value'],
    [{ tools, tool_choice: { type: 'web_search' } }, 'tool_choice', 'unsupported_parameter'],
    [{ tools: [{ type: 'computer' }] }, 'tools[0].type', 'unsupported_parameter'],
    [{ tools: [{ type: 'function', function: { name: 'f' } }] }, 'tools[0].name', 'invalid_value'],
    [{ tools: [{ type: 'function', name: 'f', parameters: 'x' }] }, 'tools[0].parameters', 'invalid_value'],
    [{ tools: {} }, 'tools', 'invalid_value'],
  ])('rejects %j', (body, param, fault) => {
    expect(refused(body)).toEqual({ param, fault });
  });
});

describe('Responses settings parsing', () => {
  it('parses all settings', () => {
    const content = read({
      max_output_tokens: 50,
      temperature: 0.5,
      top_p: 0.9,
      presence_penalty: 1,
      frequency_penalty: null,
      top_logprobs: 3,
      include: ['message.output_text.logprobs'],
      parallel_tool_calls: false,
      text: { verbosity: 'low', format: { type: 'json_schema', name: 'n', schema: { z: 1, a: 2 }, strict: true } },
      safety_identifier: 'somebody',
      user: 'somebody else',
      prompt_cache_key: 'k',
      service_tier: 'flex',
      client_metadata: { x: 1 },
      stream_options: { include_obfuscation: false },
    });
    expect(content).toMatchObject({
      outputLimit: 50,
      sampling: { temperature: 0.5, topP: 0.9, presencePenalty: 1, frequencyPenalty: undefined, topLogprobs: 3 },
      parallelTools: false,
      verbosity: 'low',
      format: { kind: 'schema', name: 'n', strict: true, schema: { text: '{"z":1,"a":2}' } },
      endUser: 'somebody',
      cacheKey: 'k',
      serviceTier: 'flex',
    });
  });

  it.each([
    [{}, 'sealed'],
    [{ reasoning: { effort: 'high', summary: null } }, 'sealed'],
    [{ store: false }, 'sealed'],
    [{ include: ['reasoning.encrypted_content'] }, 'sealed'],
    [{ reasoning: { summary: 'auto' } }, 'text'],
    [{ reasoning: { generate_summary: 'concise' }, store: false }, 'text'],
  ])('%j shows of the reasoning: %s (case 88)', (body, show) => {
    expect(read(body).reasoning.show).toBe(show);
  });

  it('accepts empty objects, as sent by LangChain', () => {
    expect(read({ text: {}, reasoning: {}, tools: [] }).format).toEqual({ kind: 'text' });
  });

  it('warns of settings that change the response', () => {
    const warnings = new TranslationWarnings(false);
    read({ truncation: 'auto' }, warnings);
    expect(warnings.header).toBe('unsupported_parameter:truncation');
  });

  it.each([
    [{ previous_response_id: 'resp_1' }, 'previous_response_id'],
    [{ conversation: 'conv_1' }, 'conversation'],
    [{ prompt: { id: 'pmpt_1' } }, 'prompt'],
    [{ access_programs: {} }, 'access_programs'],
    [{ moderation: { model: 'x', policy: { output: { mode: 'block' } } } }, 'moderation.policy.output'],
  ])('rejects vendor-only %j (case 78)', (body, param) => {
    expect(refused(body)).toEqual({ param, fault: 'unsupported_parameter' });
  });

  it.each([
    [{ temperature: 'hot' }, 'temperature'],
    [{ max_output_tokens: 0 }, 'max_output_tokens'],
    [{ instructions: 7 }, 'instructions'],
    [{ include: 'x' }, 'include'],
    [{ text: { format: { type: 'xml' } } }, 'text.format.type'],
    [{ text: { format: { type: 'json_schema', name: 'n' } } }, 'text.format.schema'],
  ])('rejects malformed %j', (body, param) => {
    expect(refused(body)).toEqual({ param, fault: 'invalid_value' });
  });
});
