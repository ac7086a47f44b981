import { expectResponse, expectResponsesStream } from '../../../test/conformance/protocols/responses/grammar.js';
import { refusalOf } from '../../../test/support/calls.js';
import { readEvents } from '../../../test/support/stream-text.js';
import { aRenderContext, checked, contentOf } from '../../../test/support/translations.js';
import type { JsonObject } from '../../platform/shared/index.js';
import { type CallContent, eventsOf, type StopReason, type ToolCallPart } from '../contract/index.js';
import { ResponsesProtocol } from './protocol.js';

// Shapes of openai 7.57.0.

const protocol = new ResponsesProtocol();
const user = { role: 'user', content: 'Hi' };
const SEARCH = {
  type: 'tool_search',
  execution: 'client',
  description: 'Finds tools.',
  parameters: { type: 'object', properties: { query: { type: 'string' } } },
};
const TOOLS = [
  { type: 'shell', environment: { type: 'local' } },
  { type: 'local_shell' },
  { type: 'apply_patch' },
  SEARCH,
];

const read = (body: object): CallContent => contentOf(protocol, { model: 'm', input: [user], ...body });
const refused = (body: object): unknown => refusalOf(() => read(body)).details;
const partsOf = (...items: readonly object[]): unknown =>
  read({ input: [user, ...items] }).turns.flatMap(({ parts }) => parts);
const text = (content: string): object => ({ kind: 'text', text: content });

const call = (name: string, args: unknown): ToolCallPart => ({
  kind: 'tool-call',
  id: `call_${name}`,
  name,
  arguments: typeof args === 'string' ? args : JSON.stringify(args),
});

/** Streamed and unstreamed items are the same. */
function itemsOf(
  parts: readonly ToolCallPart[],
  { stop = 'tool_calls', tools = TOOLS }: { stop?: StopReason; tools?: unknown } = {},
) {
  const context = aRenderContext(protocol, { model: 'm', input: 'Hi', stream: true, tools });
  const renderer = protocol.renderStream(context);
  const events = checked([...eventsOf({ parts, stop, usage: undefined })]);
  const sent = readEvents(events.map((event) => renderer.next(event)).join(''));
  expectResponsesStream(sent);
  const streamed = sent.slice(0, -1).map(({ data }) => JSON.parse(data) as JsonObject);
  const whole = JSON.parse(protocol.renderResponse({ parts, stop, usage: undefined }, context)) as JsonObject;
  expectResponse(whole);
  const done = streamed
    .filter(({ type }) => type === 'response.output_item.done')
    .map(({ item }) => item as JsonObject);
  expect(whole['output']).toEqual(done);
  return { items: done, streamed, warnings: context.warnings.header };
}

const CALLS: readonly (readonly [string, JsonObject, JsonObject])[] = [
  [
    'shell',
    { commands: ['ls -l', 'echo "ä"'], timeout_ms: 9000 },
    {
      action: { commands: ['ls -l', 'echo "ä"'], timeout_ms: 9000, max_output_length: null },
      environment: { type: 'local' },
    },
  ],
  [
    'local_shell',
    { command: ['ls', '-l'], working_directory: '/w', env: { A: '1' } },
    {
      action: {
        type: 'exec',
        command: ['ls', '-l'],
        env: { A: '1' },
        working_directory: '/w',
        user: null,
        timeout_ms: null,
      },
    },
  ],
  [
    'apply_patch',
    { type: 'update_file', path: 'a', diff: '@@\n-a\n+b' },
    { operation: { type: 'update_file', path: 'a', diff: '@@\n-a\n+b' } },
  ],
  ['apply_patch', { type: 'delete_file', path: 'a' }, { operation: { type: 'delete_file', path: 'a' } }],
  ['tool_search', { query: 'stock', limit: 3 }, { execution: 'client', arguments: { query: 'stock', limit: 3 } }],
];

describe('built-in tools', () => {
  it('are functions of the same name', () => {
    const { tools, hostedTools } = read({ tools: TOOLS });
    expect(hostedTools).toEqual([]);
    expect(tools.map(({ name, schema }) => [name, Object.keys(schema?.value['properties'] ?? {})])).toEqual([
      ['shell', ['commands', 'timeout_ms', 'max_output_length']],
      ['local_shell', ['command', 'env', 'working_directory', 'user', 'timeout_ms']],
      ['apply_patch', ['type', 'path', 'diff']],
      ['tool_search', ['query']],
    ]);
    expect(tools.at(-1)?.description).toBe('Finds tools.');
  });

  it('stay hosted if the upstream runs them', () => {
    const container = { type: 'shell', environment: { type: 'container_auto' } };
    const { tools, hostedTools } = read({ tools: [container, { type: 'tool_search' }, { type: 'shell' }] });
    expect(hostedTools.map(({ type, path }) => [type, path])).toEqual([
      ['shell', 'tools[0]'],
      ['tool_search', 'tools[1]'],
    ]);
    expect(tools.map(({ path }) => path)).toEqual(['tools[2]']);
  });

  it('describe the skills of a shell', () => {
    const skill = { name: 'release', description: 'How to release.', path: '/skills/release' };
    const [tool] = read({ tools: [{ type: 'shell', environment: { type: 'local', skills: [skill] } }] }).tools;
    expect(tool?.description).toContain('/skills/release: release. How to release.');
  });

  it('are chosen by their type', () => {
    expect(read({ tools: TOOLS, tool_choice: { type: 'apply_patch' } }).toolChoice).toEqual({
      mode: 'one',
      name: 'apply_patch',
    });
    const allowed = { type: 'allowed_tools', mode: 'auto', tools: [{ type: 'shell' }, { type: 'web_search' }] };
    expect(read({ tools: TOOLS, tool_choice: allowed }).toolChoice).toEqual({ mode: 'auto', allowed: ['shell'] });
    expect(refused({ tools: [SEARCH], tool_choice: { type: 'shell' } })).toMatchObject({ param: 'tool_choice.type' });
  });

  it('must not share their name with another tool', () => {
    const other = { type: 'function', name: 'shell' };
    expect(refused({ tools: [...TOOLS, other] })).toEqual({ param: 'tools[4].name', fault: 'invalid_value' });
    expect(read({ tools: [other] }).tools).toHaveLength(1);
  });
});

describe('calls of built-in tools', () => {
  it.each(CALLS)('of %s %j are items, which return as the same call', (name, args, members) => {
    const { items, warnings } = itemsOf([call(name, args)]);
    expect(items).toEqual([
      { type: `${name}_call`, id: expect.any(String), call_id: `call_${name}`, status: 'completed', ...members },
    ]);
    expect(warnings).toBeUndefined();
    const [, returned] = partsOf(...items) as readonly ToolCallPart[];
    expect({ ...returned, arguments: JSON.parse(returned!.arguments) as unknown }).toEqual({
      ...call(name, ''),
      arguments: args,
    });
  });

  it('of a shell are streamed by command', () => {
    const { streamed } = itemsOf([call('shell', { commands: ['ls', 'pwd'] })]);
    const added = streamed.find(({ type }) => type === 'response.output_item.added');
    expect(added?.['item']).toMatchObject({ status: 'in_progress', action: { commands: [] } });
    const commands = streamed.filter(({ type }) => String(type).startsWith('response.shell_call_command'));
    expect(commands.map(({ type, command_index: index, delta, command }) => [type, index, delta ?? command])).toEqual(
      ['ls', 'pwd'].flatMap((command, index) => [
        ['response.shell_call_command.added', index, ''],
        ['response.shell_call_command.delta', index, command],
        ['response.shell_call_command.done', index, command],
      ]),
    );
  });

  it('follow other calls in their order', () => {
    const { items } = itemsOf([
      call('f', {}),
      call('shell', { commands: ['ls'] }),
      call('f2', {}),
      call('tool_search', {}),
    ]);
    expect(items.map(({ type }) => type)).toEqual(['function_call', 'shell_call', 'function_call', 'tool_search_call']);
  });

  it.each([
    ['shell', '{"commands":["rm -r', { action: { commands: [], timeout_ms: null, max_output_length: null } }],
    ['shell', '{"commands":"ls"}', { action: { commands: ['ls'] } }],
    ['local_shell', '[]', { action: { command: [] } }],
    ['apply_patch', '{"type":"create_file"}', { operation: { type: 'create_file', path: '', diff: '' } }],
  ])('of %s never run what the model did not finish: %s', (name, args, members) => {
    const { items, warnings } = itemsOf([call(name, args)]);
    expect(items).toMatchObject([members]);
    expect(warnings).toBe(args === '{"commands":"ls"}' ? undefined : 'invalid_arguments:output');
  });

  it.each([
    ['shell', 'incomplete'],
    ['apply_patch', 'in_progress'],
  ])('of %s are %s when the output limit cuts them', (name, status) => {
    expect(itemsOf([call(name, '{"')], { stop: 'max_tokens' }).items).toMatchObject([{ status }]);
  });

  it('are those of functions when the client defines a function of that name', () => {
    const { items } = itemsOf([call('shell', { commands: [] })], { tools: [{ type: 'function', name: 'shell' }] });
    expect(items).toMatchObject([{ type: 'function_call', name: 'shell' }]);
  });
});

describe('results of built-in tools', () => {
  it('are the output of each command', () => {
    const output = [{ stdout: 'a', stderr: '', outcome: { type: 'exit', exit_code: 0 }, created_by: 'x' }];
    expect(
      partsOf(
        { type: 'shell_call', id: 'sh_1', call_id: 'c1', action: { commands: ['ls'], timeout_ms: null } },
        { type: 'shell_call_output', call_id: 'c1', output, max_output_length: 100 },
      ),
    ).toMatchObject([
      {},
      { id: 'c1', name: 'shell', arguments: '{"commands":["ls"]}' },
      {
        id: 'c1',
        parts: [text('[{"stdout":"a","stderr":"","outcome":{"type":"exit","exit_code":0}}]')],
        isError: false,
      },
    ]);
  });

  it.each([{ call_id: 'c1' }, { id: 'c1' }, { id: 'lsh_1' }])('of local_shell are found by %j', (named) => {
    const action = { type: 'exec', command: ['ls'], env: {} };
    expect(
      partsOf(
        { type: 'local_shell_call', id: 'lsh_1', call_id: 'c1', action },
        { type: 'local_shell_call_output', ...named, output: 'a' },
      ),
    ).toMatchObject([{}, { arguments: '{"command":["ls"]}' }, { kind: 'tool-result', id: 'c1', parts: [text('a')] }]);
  });

  it.each([
    ['completed', null, { parts: [], isError: false }],
    ['failed', 'No such file.', { parts: [text('No such file.')], isError: true }],
  ])('of apply_patch may be %s', (status, output, result) => {
    expect(partsOf({ type: 'apply_patch_call_output', call_id: 'c1', status, output })).toMatchObject([{}, result]);
  });

  it('of a search offer what it found, once', () => {
    const found = {
      type: 'tool_search_output',
      call_id: 'c1',
      execution: 'client',
      tools: [
        { type: 'namespace', name: 'mcp__depot', tools: [{ type: 'function', name: 'stock_of', defer_loading: true }] },
        { type: 'function', name: 'f' },
      ],
    };
    const input = [user, { type: 'tool_search_call', call_id: 'c1', arguments: '{"query":"stock"}' }, found, found];
    const { tools, turns } = read({ tools: [SEARCH, { type: 'function', name: 'f' }], input });
    expect(tools.map(({ name, namespace }) => [name, namespace])).toEqual([
      ['tool_search', undefined],
      ['f', undefined],
      ['stock_of', 'mcp__depot'],
    ]);
    expect(turns[1]?.parts).toMatchObject([{ arguments: '{"query":"stock"}' }]);
    expect(turns[2]?.parts[0]).toMatchObject({
      parts: [text('These tools can be used now: mcp__depot__stock_of, f.')],
    });
  });

  it('that the vendor produced are dropped', () => {
    const items = [
      {
        type: 'shell_call',
        id: 'x',
        call_id: 'c1',
        environment: { type: 'container_reference', container_id: 'cntr_1' },
      },
      { type: 'shell_call_output', call_id: 'c1', output: [] },
      { type: 'tool_search_call', id: 'x', execution: 'server', call_id: null, arguments: {} },
      { type: 'tool_search_output', execution: 'server', call_id: null, tools: [{ type: 'function', name: 'f' }] },
    ];
    const { turns, tools } = read({ input: [user, ...items] });
    expect([turns.length, tools]).toEqual([1, []]);
  });
});
