import { foldedResponse } from '../conformance/protocols/responses/responses.js';
import { PROTOCOLS, PATHS } from '../support/protocols.js';
import { usePairsRelay } from '../support/pairs-relay.js';
import {
  responseIn,
  type ProtocolEndpoint,
  type JsonObject,
  type ScriptedToolCall,
} from '../support/scripted-upstream.js';
import { readStream } from '../support/protocol-doubles.js';

const world = usePairsRelay();

const SCHEMA = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  type: 'object',
  properties: { path: { type: 'string' } },
};

/** As Codex asks: instructions from a developer, every kind of tool, and fields that no other client has. */
const CODEX: JsonObject = {
  stream: true,
  store: false,
  include: ['reasoning.encrypted_content'],
  prompt_cache_key: 'session-1',
  client_metadata: { session: '1' },
  reasoning: { effort: 'medium', summary: 'auto' },
  text: { verbosity: 'low' },
  parallel_tool_calls: true,
  tool_choice: 'auto',
  tools: [
    { type: 'function', name: 'shell', description: 'Runs a command.', parameters: SCHEMA, strict: false },
    {
      type: 'namespace',
      name: 'files',
      description: 'Files of the project.',
      tools: [{ type: 'function', name: 'read', description: 'Reads one.', parameters: SCHEMA, strict: false }],
    },
    {
      type: 'custom',
      name: 'apply_patch',
      description: 'Changes files.',
      format: { type: 'grammar', syntax: 'lark', definition: 'start: "x"' },
    },
    { type: 'tool_search' },
    { type: 'web_search' },
  ],
  input: [
    { type: 'message', id: 'msg_1', role: 'developer', content: [{ type: 'input_text', text: 'You are an agent.' }] },
    { type: 'message', id: 'msg_2', role: 'user', content: [{ type: 'input_text', text: 'Read a file.' }] },
    { type: 'reasoning', id: 'rs_1', summary: [], content: null, encrypted_content: 'of somebody else' },
    { type: 'function_call', id: 'fc_1', call_id: 'call_1', name: 'read', namespace: 'files', arguments: '{}' },
    { type: 'function_call_output', id: 'fco_1', call_id: 'call_1', output: 'nothing' },
    { type: 'custom_tool_call', id: 'ctc_1', call_id: 'call_2', name: 'apply_patch', input: '*** Begin' },
    {
      type: 'custom_tool_call_output',
      id: 'cto_1',
      call_id: 'call_2',
      output: [{ type: 'input_text', text: 'done' }],
    },
  ],
};

/** As Claude Code asks: instructions in several blocks and at the end, marks of the cache, fields of its betas. */
const CLAUDE_CODE: JsonObject = {
  stream: true,
  max_tokens: 32_000,
  metadata: { user_id: JSON.stringify({ device: 'd'.repeat(150) }) },
  thinking: { type: 'adaptive', display: 'omitted' },
  output_config: { effort: 'high' },
  context_management: { edits: [{ type: 'clear_thinking_20251015', keep: 'all' }] },
  system: [
    { type: 'text', text: 'x-anthropic-billing-header: x' },
    { type: 'text', text: 'You are an agent.', cache_control: { type: 'ephemeral' } },
  ],
  tools: [
    { name: 'Bash', description: 'Runs a command.', input_schema: SCHEMA, cache_control: { type: 'ephemeral' } },
    { name: 'Later', description: 'Is loaded later.', input_schema: SCHEMA, defer_loading: true },
  ],
  messages: [
    { role: 'user', content: [{ type: 'text', text: 'List files.', cache_control: { type: 'ephemeral' } }] },
    {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: '', signature: 'of somebody else' },
        { type: 'tool_use', id: 'call_1', name: 'Bash', input: { path: '.' } },
      ],
    },
    {
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id: 'call_1', content: 'a.txt', is_error: false }],
    },
    { role: 'system', content: 'Remember the rules.', output_config: { effort: 'low' } },
  ],
};

const FOREIGN = (client: ProtocolEndpoint): readonly ProtocolEndpoint[] =>
  PROTOCOLS.filter((protocol) => protocol !== client);

/** The tools that an upstream was offered, by name. */
function offered(request: JsonObject): string[] {
  const tools = request['tools'] as { readonly name?: string; readonly function?: { readonly name: string } }[];
  return tools.map((tool) => tool.function?.name ?? tool.name ?? '');
}

describe.each(FOREIGN('responses'))('Codex over an upstream of %s (case 61)', (upstream) => {
  const ask = async (call: ScriptedToolCall): Promise<string> => {
    world.relay.upstream.script(responseIn(upstream, { toolCalls: [call] }));
    const request = { ...CODEX, model: `over-${upstream}` };
    const response = await world.relay.post(PATHS.responses, world.caller.key, request);
    const text = await response.text();
    expect([response.status, text]).toEqual([200, expect.anything()]);
    return text;
  };
  const itemsOf = (stream: string): JsonObject[] => foldedResponse(stream)['output'] as JsonObject[];

  it('a call of a tool in a namespace comes back as one', async () => {
    const stream = await ask({ id: 'call_9', name: 'files__read', arguments: '{"path":"a"}' });
    expect(readStream('responses', stream).stop).toBe('tools');
    expect(itemsOf(stream)).toMatchObject([
      { type: 'function_call', call_id: 'call_9', name: 'read', namespace: 'files', arguments: '{"path":"a"}' },
    ]);
  });

  it('a call of a tool that takes any text comes back with the text alone (case 62)', async () => {
    const patch = '*** Begin "Patch"\n+ ☃\n';
    const stream = await ask({ id: 'call_9', name: 'apply_patch', arguments: JSON.stringify({ input: patch }) });
    expect(readStream('responses', stream).calls).toEqual([]);
    expect(itemsOf(stream)).toMatchObject([
      { type: 'custom_tool_call', call_id: 'call_9', name: 'apply_patch', input: patch },
    ]);
  });

  it('the upstream is offered what it can have, and nothing of what it cannot', async () => {
    await ask({ id: 'call_9', name: 'shell', arguments: '{}' });
    const { json, body } = await world.relay.upstream.nextRequest();
    expect(offered(json)).toEqual(['shell', 'files__read', 'apply_patch']);
    expect(body.toString()).toContain('You are an agent.');
    expect(body.toString()).toContain('*** Begin');
    expect(body.toString()).not.toMatch(/client_metadata|encrypted_content|of somebody else|web_search|rs_1|\$schema/);
  });
});

describe.each(FOREIGN('messages'))('Claude Code over an upstream of %s (cases 74 and 75)', (upstream) => {
  it('is answered, and the upstream sees nothing of its betas', async () => {
    const call = { id: 'toolu_9', name: 'Bash', arguments: '{"path":"."}' };
    world.relay.upstream.script(responseIn(upstream, { reasoning: 'Hm.', text: 'Let me see.', toolCalls: [call] }));
    const request = { ...CLAUDE_CODE, model: `over-${upstream}` };
    const path = `${PATHS.messages}?beta=true`;
    const response = await world.relay.post(path, world.caller.key, request, { 'anthropic-version': '2023-06-01' });
    const stream = await response.text();
    expect([response.status, stream]).toEqual([200, expect.anything()]);
    // It has asked for thoughts that it can send back, but not to read them.
    expect(readStream('messages', stream)).toMatchObject({
      text: 'Let me see.',
      reasoning: '',
      calls: ['toolu_9 Bash {"path":"."}'],
      stop: 'tools',
    });
    expect(stream).toContain('signature_delta');

    const { json, body } = await world.relay.upstream.nextRequest();
    expect(offered(json)).toEqual(['Bash']);
    expect(body.toString()).not.toMatch(/cache_control|context_management|defer_loading|of somebody else|\$schema/);
    const text = body.toString();
    // The last instruction stays where it stands, behind the results.
    expect(text.indexOf('Remember the rules.')).toBeGreaterThan(text.indexOf('a.txt'));
    expect(text.indexOf('You are an agent.')).toBeLessThan(text.indexOf('List files.'));
  });
});
