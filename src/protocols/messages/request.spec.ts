import { aCall, refusalOf } from '../../../test/support/calls.js';
import { EMPTY, HELLO, image, protocol, read, said, text, warned } from '../../../test/support/messages-requests.js';
import { contentOf, treeOf } from '../../../test/support/translations.js';
import { type CallContent, TranslationWarnings } from '../contract/index.js';
import type { AppError } from '../../platform/shared/index.js';

const refused = (members: object): AppError => refusalOf(() => read(members));
const readIn = (version: string, members: object): CallContent => {
  const body = { ...EMPTY, ...members };
  const call = aCall(protocol, body, { headers: { 'anthropic-version': version } });
  return protocol.parseRequest(treeOf(protocol, body), {
    call,
    warnings: new TranslationWarnings(false),
    unseal: () => undefined,
  });
};

const EPHEMERAL = { type: 'ephemeral', ttl: '1h' };

describe('Messages request parsing', () => {
  it('parses all settings', () => {
    const content = read({
      system: [{ ...text('Be kind.'), cache_control: EPHEMERAL }, text('')],
      temperature: 0.5,
      top_p: 0.9,
      top_k: 40,
      stop_sequences: ['', 'END'],
      metadata: { user_id: '{"device":"x"}' },
      service_tier: 'standard_only',
    });
    expect(content).toMatchObject({
      lead: [{ kind: 'text', text: 'Be kind.', cache: { ttl: '1h' } }],
      turns: [{ role: 'user', parts: [{ kind: 'text', text: 'Hello' }] }],
      outputLimit: 100,
      stop: ['END'],
      sampling: { temperature: 0.5, topP: 0.9, topK: 40 },
      endUser: '{"device":"x"}',
      serviceTier: 'default',
      toolChoice: { mode: 'auto' },
      format: { kind: 'text' },
      reasoning: { show: 'none' },
    });
    expect(read({ system: 'Be kind.' }).lead).toEqual([{ kind: 'text', text: 'Be kind.' }]);
    expect(read({ service_tier: 'auto' }).serviceTier).toBeUndefined();
  });

  it('accepts everything Claude Code sends (case 74)', () => {
    const content = read({
      system: [
        text('x-anthropic-billing-header: x'),
        { ...text('You are Claude.'), cache_control: { type: 'ephemeral' } },
      ],
      messages: [
        HELLO,
        { role: 'assistant', content: [text('Hi')] },
        { role: 'user', content: [text('Go on')] },
        { role: 'system', content: 'Mind the gap.', output_config: { effort: 'high' } },
      ],
      thinking: { type: 'adaptive', display: 'updates' },
      output_config: { effort: 'high' },
      context_management: { edits: [{ type: 'clear_thinking_20251015' }] },
      diagnostics: {},
      tools: [
        {
          name: 'Bash',
          description: 'Runs',
          input_schema: { $schema: 'https://json-schema.org/draft', type: 'object', properties: {} },
          eager_input_streaming: true,
          cache_control: { type: 'ephemeral' },
        },
      ],
    });
    expect(content.turns.map(({ role }) => role)).toEqual(['user', 'assistant', 'user', 'system']);
    expect(content.reasoning).toEqual({ effort: 'high', budget: undefined, thinking: 'on', show: 'text' });
    expect(content.tools[0]?.schema?.text).toBe(
      '{"$schema":"https://json-schema.org/draft","type":"object","properties":{}}',
    );
  });

  it("drops Claude Code's billing note", () => {
    const note = 'x-anthropic-billing-header: cc_version=2.1.328.ccf; cc_entrypoint=cli; cch=eb6c6;';
    const { lead } = read({ system: [text(note), text('You are Claude.')] });
    expect(lead).toEqual([{ kind: 'text', text: 'You are Claude.' }]);
    expect(said(text(note))).toEqual([{ kind: 'text', text: note }]);
  });

  it('puts leading system text in front (case 74)', () => {
    const messages = [{ role: 'system', content: [text('Second.')] }, HELLO];
    expect(read({ system: 'First.', messages }).lead.map((part) => part.text)).toEqual(['First.', 'Second.']);
  });

  it.each([
    [[]],
    [[{ role: 'system', content: 'Only this.' }]],
    [[{ role: 'user', content: '' }]],
    [[{ role: 'user', content: null }]],
    [[{ role: 'user', content: [] }]],
    [[{ role: 'assistant', content: 'Hi' }]],
  ])('rejects conversations without user content: %j (cases 72 and 74)', (messages) => {
    expect(refused({ messages })).toMatchObject({ kind: 'invalid_request', details: { param: 'messages' } });
  });

  it.each([
    [{ messages: [{ role: 'tool', content: 'x' }] }, 'messages[0].role'],
    [{ messages: [{ content: 'x' }] }, 'messages[0].role'],
    [{ messages: ['x'] }, 'messages[0]'],
    [{ messages: [{ role: 'user', content: 5 }] }, 'messages[0].content'],
    [{ messages: [{ role: 'user', content: ['x'] }] }, 'messages[0].content[0]'],
    [{ messages: [HELLO, { role: 'user', content: [{ type: 'hologram' }] }] }, 'messages[1].content[0].type'],
    [
      { messages: [{ role: 'user', content: [{ type: 'tool_use', id: 'a', name: 'b' }] }] },
      'messages[0].content[0].type',
    ],
    [
      { messages: [HELLO, { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'b', input: 'x' }] }] },
      'messages[1].content[0].input',
    ],
    [
      { messages: [{ role: 'user', content: [{ type: 'image', source: { type: 'file', file_id: 'f' } }] }] },
      'messages[0].content[0].source.type',
    ],
    [{ system: [image] }, 'system[0].type'],
    [{ system: 5 }, 'system'],
    [{ temperature: '1' }, 'temperature'],
    [{ stop_sequences: [1] }, 'stop_sequences[0]'],
    [{ tools: [{ input_schema: {} }] }, 'tools[0].name'],
    [{ tools: [{ name: 'a', input_schema: [] }] }, 'tools[0].input_schema'],
    [{ tools: [{ type: 'computer_20250124', name: 'computer' }] }, 'tools[0].type'],
    [{ tool_choice: 'auto' }, 'tool_choice'],
    [{ tool_choice: { type: 'some' } }, 'tool_choice.type'],
    [{ tool_choice: { type: 'tool', name: 'missing' } }, 'tool_choice.name'],
    [{ output_config: { format: { type: 'xml' } } }, 'output_config.format.type'],
    [{ output_config: { format: { type: 'json_schema' } } }, 'output_config.format.schema'],
    [{ max_tokens: 0 }, 'max_tokens'],
    [{ inference_geo: 'eu' }, 'inference_geo'],
    [{ mcp_servers: [{ type: 'url' }] }, 'mcp_servers'],
    [{ container: { skills: [] } }, 'container.skills'],
  ])('names malformed and unsupported members: %j (cases 56, 72 and 117)', (members, param) => {
    const error = refused(members);
    expect([error.kind, error.details.param]).toEqual(['invalid_request', param]);
  });

  it('accepts a new thread, whose conversation it has', () => {
    expect(read({ thread: { type: 'create' } }).turns).toHaveLength(1);
  });

  it('rejects continued threads with the details that clients expect', () => {
    const error = refused({ thread: { type: 'continue', previous_message_id: 'msg_1' } });
    expect(protocol.renderError(error, 'req_1')).toMatchObject({
      status: 404,
      body: { type: 'error', error: { type: 'not_found_error', details: { error_code: 'thread_not_found' } } },
    });
  });

  it.each(['temperature', 'top_p', 'top_k'])('rejects %s for versions without sampling (case 112)', (name) => {
    const error = refusalOf(() => readIn('2026-10-21', { [name]: 1 }));
    expect(error.message).toBe(`${name} is not permitted with an anthropic-version of 2026-10-21 or later.`);
    expect(error.details).toEqual({ param: name, fault: 'unsupported_parameter' });
    expect(readIn('2023-06-01', { [name]: 1 }).sampling).toBeDefined();
    expect(readIn('2026-10-21', { [name]: null }).sampling).toEqual({});
  });

  it('warns of a faster speed', () => {
    expect(warned({ speed: 'fast' })).toBe('unsupported_parameter:speed');
    expect(warned({ speed: 'standard', unknown: { of: 'nobody' } })).toBeUndefined();
  });

  it.each([
    [{}, { effort: undefined, show: 'none' }],
    [
      { thinking: { type: 'disabled' }, output_config: { effort: 'high' } },
      { effort: 'none', thinking: 'off', show: 'none' },
    ],
    [{ thinking: { type: 'adaptive' } }, { effort: undefined, thinking: 'on', show: 'text' }],
    [{ thinking: { type: 'adaptive', display: 'omitted' } }, { effort: undefined, thinking: 'on', show: 'sealed' }],
    [
      { thinking: { type: 'enabled', budget_tokens: 4096 } },
      { effort: 'low', budget: 4096, thinking: 'on', show: 'text' },
    ],
    [
      { thinking: { type: 'enabled', budget_tokens: 16384 } },
      { effort: 'medium', budget: 16384, thinking: 'on', show: 'text' },
    ],
    [
      { thinking: { type: 'enabled', budget_tokens: 32769 } },
      { effort: 'xhigh', budget: 32769, thinking: 'on', show: 'text' },
    ],
    [{ output_config: { effort: 'max' } }, { effort: 'max', show: 'none' }],
  ])('parses reasoning: %j (cases 84 and 88)', (members, wish) => {
    expect(read(members).reasoning).toEqual(wish);
  });

  it.each([
    ['{"type":"object","properties":{"a":{}},"required":["a"],"additionalProperties":false}', true],
    ['{"type":"object","properties":{"a":{}},"required":[],"additionalProperties":false}', false],
    ['{"type":"object","properties":{"a":{}},"required":["a"]}', false],
    [
      '{"type":"object","properties":{"a":{"items":{"type":"object"}}},"required":["a"],"additionalProperties":false}',
      false,
    ],
    [
      '{"type":"object","properties":{"properties":{"type":"string"}},"required":["properties"],"additionalProperties":false}',
      true,
    ],
    [
      '{"type":"object","properties":{"type":{"const":"object"}},"required":["type"],"additionalProperties":false}',
      true,
    ],
  ])('parses the output schema with its strictness: %s (case 118)', (schema, strict) => {
    const { format } = contentOf(
      protocol,
      `{"model":"m","max_tokens":1,"messages":[{"role":"user","content":"x"}],"output_config":{"format":{"type":"json_schema","schema":${schema}}}}`,
    );
    expect(format).toEqual({ kind: 'schema', schema: expect.objectContaining({ text: schema }) as unknown, strict });
  });
});

describe('Messages tool parsing', () => {
  const bash = { type: 'bash_20250124', name: 'bash' };

  it('keeps schemas as text and moves examples to the description', () => {
    const json = `{"model":"m","max_tokens":1,"messages":[{"role":"user","content":"x"}],"tools":[{"name":"a","input_schema":{"properties":{"10":1.0,"2":{}}},"strict":true,"input_examples":[{"b":1}]}]}`;
    expect(contentOf(protocol, json).tools).toEqual([
      {
        name: 'a',
        description: 'Examples of its input: [{"b":1}]',
        schema: expect.objectContaining({ text: '{"properties":{"10":1.0,"2":{}}}' }) as unknown,
        strict: true,
        path: 'tools[0]',
      },
    ]);
  });

  it('defines typed client tools', () => {
    const { tools } = read({
      tools: [
        bash,
        { type: 'text_editor_20250728', name: 'str_replace_based_edit_tool' },
        { type: 'memory_20250818', name: 'memory' },
      ],
    });
    expect(tools.map(({ name }) => name)).toEqual(['bash', 'str_replace_based_edit_tool', 'memory']);
    expect(tools.map(({ schema }) => Object.keys(schema?.value['properties'] as object)[0])).toEqual([
      'command',
      'command',
      'command',
    ]);
  });

  it('separates hosted tools', () => {
    const { tools, hostedTools } = read({
      tools: [
        bash,
        { type: 'web_search_20250305', name: 'web_search' },
        { type: 'code_execution_20250825', name: 'code_execution' },
      ],
    });
    expect(tools).toHaveLength(1);
    expect(hostedTools).toEqual([
      { type: 'web_search', path: 'tools[1]' },
      { type: 'code_execution_20250825', path: 'tools[2]' },
    ]);
  });

  it.each([
    [{ type: 'auto' }, { mode: 'auto' }, undefined],
    [{ type: 'any' }, { mode: 'required' }, undefined],
    [{ type: 'none' }, { mode: 'none' }, undefined],
    [{ type: 'tool', name: 'bash' }, { mode: 'one', name: 'bash' }, undefined],
    [{ type: 'auto', disable_parallel_tool_use: true }, { mode: 'auto' }, false],
    [{ type: 'auto', disable_parallel_tool_use: false }, { mode: 'auto' }, undefined],
  ])('parses the choice %j (cases 56 and 57)', (choice, toolChoice, parallelTools) => {
    expect(read({ tools: [bash], tool_choice: choice })).toMatchObject({ toolChoice, parallelTools });
  });
});
