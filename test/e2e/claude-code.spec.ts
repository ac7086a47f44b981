import { foldedMessage } from '../conformance/protocols/messages/responses.js';
import { agentRequest, claudeGoesOn } from '../support/agents.js';
import { PROTOCOLS, PATHS } from '../support/protocols.js';
import { usePairsRelay } from '../support/pairs-relay.js';
import {
  responseIn,
  type ProtocolEndpoint,
  ENCRYPTED_REASONING,
  type JsonObject,
  THINKING_SIGNATURE,
} from '../support/scripted-upstream.js';
import { readStream } from '../support/protocol-doubles.js';

const FOREIGN = PROTOCOLS.filter((protocol) => protocol !== 'messages');
/** As Claude Code 2.1.197 sends them for models of Anthropic, recorded on 2026-11-25. */
const HEADERS = {
  'anthropic-version': '2023-06-01',
  'anthropic-beta':
    'claude-code-20250219,interleaved-thinking-2025-05-14,thinking-token-count-2026-05-13,' +
    'context-management-2025-06-27,prompt-caching-scope-2026-01-05,mid-conversation-system-2026-04-07,effort-2025-11-24',
};
const LIST = { id: 'call_1', name: 'Bash', arguments: ['{"command":', '"ls"}'] };
const SEARCH = { id: 'call_1', name: 'ToolSearch', arguments: '{"query":"stock"}' };
const STOCK = { name: 'mcp__depot__stock_of', input_schema: { type: 'object' }, defer_loading: true };
const CHANGES = [
  { type: 'tool_addition', tool: { type: 'tool_definition', definition: { ...STOCK, name: 'mcp__late__f' } } },
  { type: 'tool_removal', tool: { type: 'tool_reference', name: 'Write' } },
];

/** With a deferred tool. */
const withStock = (request: JsonObject): JsonObject => ({
  ...request,
  tools: [STOCK, ...(request['tools'] as JsonObject[])],
});
const withChanges = (request: JsonObject): JsonObject => ({
  ...request,
  messages: [...(request['messages'] as JsonObject[]), { role: 'system', content: CHANGES }],
});

/** The reasoning that an upstream has to get back, as it wants it. */
const REPLAYED: Readonly<Record<ProtocolEndpoint, string>> = {
  'chat-completions': '"reasoning_content":"Hm."',
  messages: `"signature":"${THINKING_SIGNATURE}"`,
  responses: `"encrypted_content":"${ENCRYPTED_REASONING}"`,
};

/** What no other protocol has a place for. */
const FOREIGN_WORDS =
  /cache_control|context_management|output_config|defer_loading|\$schema|display|is_error|billing-header|device_id|rly1\./;

const world = usePairsRelay();

const post = (request: JsonObject, headers = {}): Promise<Response> =>
  world.relay.post(`${PATHS.messages}?beta=true`, world.caller.key, request, { ...HEADERS, ...headers });
const sent = (at: number): JsonObject => world.relay.upstream.requests[at]!.json;
const sentText = (at: number): string => world.relay.upstream.requests[at]!.body.toString();
function toolNames(at: number): readonly (string | undefined)[] {
  const tools = sent(at)['tools'] as { name?: string; function?: { name: string } }[];
  return tools.map(({ name, function: called }) => called?.name ?? name);
}

/** The blocks of the response, whose stream obeys the grammar. */
async function ask(request: JsonObject): Promise<readonly JsonObject[]> {
  const text = await (await post(request)).text();
  readStream('messages', text);
  return foldedMessage(text)['content'] as JsonObject[];
}

describe.each(PROTOCOLS)('Claude Code over an upstream of %s', (upstream) => {
  const first = agentRequest('claude-code', `over-${upstream}`);

  it('calls a tool, and goes on with what it said and the reasoning that the upstream signed (agents 5 and 8)', async () => {
    world.relay.upstream.scriptNext(responseIn(upstream, { reasoning: 'Hm.', text: 'Now.', toolCalls: [LIST] }));
    const content = await ask(first);
    expect(content.at(-1)).toEqual({ type: 'tool_use', id: 'call_1', name: 'Bash', input: { command: 'ls' } });
    await ask(claudeGoesOn(first, content, 'a.txt'));
    expect(sentText(1)).toContain(REPLAYED[upstream]);
    expect(sentText(1)).toContain('a.txt');
    expect(sentText(1)).not.toContain('rly1.');
    expect(world.relay.upstream.requests).toHaveLength(2);
  });

  it('gets a whole message where it asks again without a stream (agents 10)', async () => {
    world.relay.upstream.scriptNext(responseIn(upstream, { reasoning: 'Hm.', toolCalls: [LIST] }));
    const { stream: _, ...whole } = first;
    const message = (await (await post(whole)).json()) as JsonObject;
    expect(message).toMatchObject({ type: 'message', stop_reason: 'tool_use' });
    expect((message['content'] as JsonObject[]).at(-1)).toMatchObject({ type: 'tool_use', input: { command: 'ls' } });
  });
});

it('sends no member or beta that the table of Messages does not name', async () => {
  const { upstream } = world.relay;
  upstream.scriptNext(responseIn('messages', { text: 'Hello.' }));
  expect((await post(agentRequest('claude-code', 'over-messages'))).status).toBe(200);
  const metrics = await (await fetch(`${world.relay.url}/metrics`)).text();
  expect(metrics).not.toMatch(/^switchboard_unknown_members_total\{/m);
});

describe.each(FOREIGN)('requests of Claude Code to an upstream of %s', (upstream) => {
  const first = agentRequest('claude-code', `over-${upstream}`);
  const rolesOf = (body: JsonObject): readonly unknown[] =>
    ((body['messages'] ?? body['input']) as JsonObject[]).map(({ role, type }) => role ?? type);

  it('has its instructions in front and in their place, where they stay (case 74, agents 5)', async () => {
    world.relay.upstream.scriptNext(responseIn(upstream, { reasoning: 'Hm.', toolCalls: [LIST] }));
    await ask(claudeGoesOn(first, await ask(first), 'a.txt'));
    const [before, after] =
      upstream === 'responses'
        ? [
            ['user', 'developer'],
            ['reasoning', 'function_call', 'function_call_output'],
          ]
        : [
            ['system', 'user', 'system'],
            ['assistant', 'tool'],
          ];
    expect(rolesOf(sent(0))).toEqual(before);
    expect(rolesOf(sent(1))).toEqual([...before, ...after]);
    const { tools: _, ...body } = sent(0);
    expect(JSON.stringify(body)).toMatch(/You are a Claude agent.*You are an agent working/);
  });

  it('has nothing in it that is between it and its vendor (case 75, agents 5)', async () => {
    world.relay.upstream.scriptNext(responseIn(upstream, { toolCalls: [LIST] }));
    await ask(claudeGoesOn(first, await ask(first), 'a.txt'));
    expect(sentText(0) + sentText(1)).not.toMatch(FOREIGN_WORDS);
    const { headers, query } = world.relay.upstream.requests[0]!;
    expect(Object.keys(headers).filter((name) => name.startsWith('anthropic-'))).toEqual([]);
    expect(query.size).toBe(0);
  });

  it('has deferred tools once its search found them, or a message adds them (agents 5)', async () => {
    const request = withStock(first);
    world.relay.upstream.scriptNext(responseIn(upstream, { toolCalls: [SEARCH] }));
    const searched = claudeGoesOn(request, await ask(request), [
      { type: 'tool_reference', tool_name: 'mcp__depot__stock_of' },
    ]);
    await ask(searched);
    await ask(withChanges(searched));
    expect(toolNames(0)).toEqual(['Bash', 'ToolSearch', 'Write']);
    expect(toolNames(1)).toEqual(['Bash', 'ToolSearch', 'Write', 'mcp__depot__stock_of']);
    expect(toolNames(2)).toEqual(['Bash', 'ToolSearch', 'mcp__depot__stock_of', 'mcp__late__f']);
    expect(sentText(1) + sentText(2)).not.toMatch(FOREIGN_WORDS);
  });
});

describe('requests of Claude Code to an upstream of its own protocol', () => {
  it('is as it was, but for the name of the model (case 75, agents 5 and 12)', async () => {
    const first = agentRequest('claude-code', 'over-messages');
    await ask(first);
    expect(sent(0)).toEqual({ ...first, model: 'vendor-messages' });
    expect(world.relay.upstream.requests[0]!.headers).toMatchObject(HEADERS);
  });
});

it('tool changes and deferred tools reach an upstream of its own protocol as they are', async () => {
  const request = withChanges(withStock(agentRequest('claude-code', 'over-messages')));
  await ask(request);
  expect(sent(0)).toMatchObject({ tools: request['tools'], messages: request['messages'] });
});
