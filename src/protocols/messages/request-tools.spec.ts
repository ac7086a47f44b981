import { refusalOf } from '../../../test/support/calls.js';
import { contentOf } from '../../../test/support/translations.js';
import { type CallContent } from '../contract/index.js';
import { MessagesProtocol } from './protocol.js';

// Shapes of @anthropic-ai/sdk 1.12.0.

const protocol = new MessagesProtocol();
const HELLO = { role: 'user', content: 'Hello' };
const tool = (name: string, more: object = {}): object => ({ name, input_schema: { type: 'object' }, ...more });
const later = (name: string): object => tool(name, { defer_loading: true });
const reference = (name: string): object => ({ type: 'tool_reference', name });
const add = (changed: object): object => ({ type: 'tool_addition', tool: changed });
const define = (definition: object): object => add({ type: 'tool_definition', definition });
const remove = (name: string): object => ({ type: 'tool_removal', tool: reference(name) });
const system = (...content: readonly object[]): object => ({ role: 'system', content });

const read = (tools: readonly object[], ...messages: readonly object[]): CallContent =>
  contentOf(protocol, { model: 'm', max_tokens: 9, tools, messages: [HELLO, ...messages] });
const offered = (...request: Parameters<typeof read>): readonly string[] =>
  read(...request).tools.map(({ name }) => name);

describe('Messages tool changes', () => {
  it('take effect in their order', () => {
    const tools = [tool('a'), tool('b'), later('c')];
    expect(offered(tools)).toEqual(['a', 'b']);
    expect(offered(tools, system(remove('a')), HELLO, system(add(reference('c'))))).toEqual(['b', 'c']);
    expect(offered(tools, system(remove('a'), add(reference('a')), remove('b')))).toEqual(['a']);
    expect(offered(tools, system(remove('a'), remove('a')))).toEqual(['b']);
  });

  it('define tools, also in place of earlier ones', () => {
    const { tools, hostedTools } = read(
      [tool('a')],
      system(define(tool('b')), define(tool('a', { description: 'Newer.' }))),
      system(define({ type: 'web_search_20250305', name: 'web_search', max_uses: 2 })),
    );
    expect(tools.map(({ name, description, path }) => [name, description, path])).toEqual([
      ['a', 'Newer.', 'messages[1].content[1].tool.definition'],
      ['b', undefined, 'messages[1].content[0].tool.definition'],
    ]);
    expect(hostedTools).toEqual([{ type: 'web_search', maxUses: 2, path: 'messages[2].content[0].tool.definition' }]);
    expect(offered([tool('a')], system(define(tool('b'))), system(remove('b')), system(add(reference('b'))))).toEqual([
      'a',
      'b',
    ]);
  });

  it('remove hosted tools by name', () => {
    const search = { type: 'web_search_20250305', name: 'web_search' };
    expect(read([search, tool('a')], system(remove('web_search'))).hostedTools).toEqual([]);
  });

  it('leave the text of their message', () => {
    const { turns } = read([tool('a')], system({ type: 'text', text: 'No more a.' }, remove('a')));
    expect(turns).toMatchObject([{ role: 'user' }, { role: 'system', parts: [{ kind: 'text', text: 'No more a.' }] }]);
    expect(read([tool('a')], system(remove('a'))).turns).toHaveLength(1);
  });

  it('are those of a compaction where it replaces the conversation', () => {
    const compacted = (tool_changes?: readonly object[]): object => ({
      role: 'assistant',
      content: [{ type: 'compaction', content: 'Summary.', ...(tool_changes && { tool_changes }) }],
    });
    const tools = [tool('a'), tool('b')];
    const earlier = system(remove('a'), define(tool('c')));
    expect(offered(tools, earlier, compacted([remove('b')]), HELLO)).toEqual(['a']);
    expect(offered(tools, earlier, compacted(), HELLO)).toEqual(['b', 'c']);
    expect(offered(tools, compacted([define(tool('d'))]), HELLO, system(remove('d')))).toEqual(['a', 'b']);
  });

  it('restrict the choice of a tool', () => {
    const request = (...messages: readonly object[]): object => ({
      model: 'm',
      max_tokens: 9,
      tools: [tool('a'), tool('b')],
      tool_choice: { type: 'tool', name: 'a' },
      messages: [HELLO, ...messages],
    });
    expect(contentOf(protocol, request()).toolChoice).toEqual({ mode: 'one', name: 'a' });
    const refusal = refusalOf(() => contentOf(protocol, request(system(remove('a')))));
    expect(refusal.details).toMatchObject({ param: 'tool_choice.name' });
  });

  it.each([
    [remove('x'), 'messages[1].content[0].tool.name', 'invalid_value'],
    [add(reference('x')), 'messages[1].content[0].tool.name', 'invalid_value'],
    [
      add({ type: 'mcp_toolset_reference', server_name: 's' }),
      'messages[1].content[0].tool.type',
      'unsupported_parameter',
    ],
    [define({ type: 'mcp_toolset' }), 'messages[1].content[0].tool.definition.type', 'unsupported_parameter'],
    [{ type: 'tool_removal' }, 'messages[1].content[0].tool', 'invalid_value'],
  ])('are rejected if they do not name a tool of the client: %j', (change, param, fault) => {
    expect(refusalOf(() => read([tool('a')], system(change))).details).toEqual({ param, fault });
  });
});

describe('deferred Messages tools', () => {
  const found = (name: string): object => ({
    role: 'user',
    content: [{ type: 'tool_result', tool_use_id: 't', content: [{ type: 'tool_reference', tool_name: name }] }],
  });
  const search = { role: 'assistant', content: [{ type: 'tool_use', id: 't', name: 'ToolSearch', input: {} }] };

  it("are offered once the client's search found them, after the others", () => {
    const tools = [later('c'), tool('ToolSearch'), later('d')];
    expect(offered(tools)).toEqual(['ToolSearch']);
    expect(offered(tools, search, found('c'))).toEqual(['ToolSearch', 'c']);
    expect(offered(tools, search, found('unknown'))).toEqual(['ToolSearch']);
  });

  it('are offered from the start if only the vendor could find them', () => {
    const hosted = { type: 'tool_search_tool_bm25_20251119', name: 'tool_search' };
    expect(offered([hosted, tool('a'), later('c')])).toEqual(['a', 'c']);
  });
});
