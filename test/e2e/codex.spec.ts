import { foldedResponse } from '../conformance/protocols/responses/responses.js';
import { type AgentRequest, agentRequest, codexGoesOn } from '../support/agents.js';
import { PROTOCOLS, PATHS } from '../support/protocols.js';
import { usePairsRelay } from '../support/pairs-relay.js';
import {
  responseIn,
  type AnswerOptions,
  type ProtocolEndpoint,
  ENCRYPTED_REASONING,
  type JsonObject,
  THINKING_SIGNATURE,
} from '../support/scripted-upstream.js';
import { readStream } from '../support/protocol-doubles.js';

const REQUESTS: readonly AgentRequest[] = ['codex', 'codex-freeform', 'codex-built-in'];
const FOREIGN = PROTOCOLS.filter((protocol) => protocol !== 'responses');
const PATCH = '*** Begin Patch\n*** Add File: ä.txt\n+"42"\n*** End Patch';
const SCRIPT = 'const r = await tools.exec_command({ cmd: "ls" }); text(r);';

/** The reasoning that an upstream has to get back, as it wants it. */
const REPLAYED: Readonly<Record<ProtocolEndpoint, string>> = {
  'chat-completions': '"reasoning_content":"Hm."',
  messages: `"thinking":"Hm.","signature":"${THINKING_SIGNATURE}"`,
  responses: `"encrypted_content":"${ENCRYPTED_REASONING}"`,
};

/** What no other protocol has a place for. */
const FOREIGN_WORDS =
  /client_metadata|passthrough|prompt_cache_key|web_search|tool_search_|"(?:namespace|custom)"|rly1\./;

interface WireTool {
  readonly name: string;
  readonly function?: { readonly name: string };
}

const world = usePairsRelay();

const post = (request: JsonObject): Promise<Response> => world.relay.post(PATHS.responses, world.caller.key, request);
const sent = (at: number): JsonObject => world.relay.upstream.requests[at]!.json;
const sentText = (at: number): string => world.relay.upstream.requests[at]!.body.toString();
const toolNames = (body: JsonObject): readonly string[] =>
  (body['tools'] as readonly WireTool[]).map(({ name, function: called }) => called?.name ?? name);

/** The items of the response, whose stream obeys the grammar. */
async function ask(request: JsonObject): Promise<readonly JsonObject[]> {
  const text = await (await post(request)).text();
  readStream('responses', text);
  return foldedResponse(text)['output'] as JsonObject[];
}

describe.each(PROTOCOLS)('Codex over an upstream of %s', (upstream) => {
  const first = (name: AgentRequest): JsonObject => agentRequest(name, `over-${upstream}`);
  const willSay = (options: AnswerOptions): void => world.relay.upstream.scriptNext(responseIn(upstream, options));

  it.each(REQUESTS)('%s: it is answered by the first request (cases 61 and 62, agents 5 and 6)', async (name) => {
    willSay({ text: ['Hel', 'lo'] });
    const [message] = await ask(first(name));
    expect(message).toMatchObject({ type: 'message', content: [{ type: 'output_text', text: 'Hello' }] });
    expect(world.relay.upstream.requests).toHaveLength(1);
  });

  it('a tool is called, and its result goes to the upstream with the reasoning it signed (case 61, agents 8)', async () => {
    willSay({ reasoning: 'Hm.', toolCalls: [{ id: 'call_1', name: 'exec_command', arguments: ['{"cmd":', '"ls"}'] }] });
    const output = await ask(first('codex'));
    expect(output.at(-1)).toMatchObject({ type: 'function_call', name: 'exec_command', arguments: '{"cmd":"ls"}' });
    await ask(codexGoesOn(first('codex'), output, 'a.txt'));
    expect(sentText(1)).toContain(REPLAYED[upstream]);
    expect(sentText(1)).toContain('a.txt');
    expect(sentText(1)).not.toContain('rly1.');
  });
});

describe.each(FOREIGN)('tools of Codex with an upstream of %s', (upstream) => {
  const first = (name: AgentRequest): JsonObject => agentRequest(name, `over-${upstream}`);

  /** The call as Codex sees it, when the upstream calls that tool. Its result has been sent after it. */
  async function called(request: JsonObject, name: string, input: string): Promise<JsonObject> {
    world.relay.upstream.scriptNext(responseIn(upstream, { toolCalls: [{ id: 'call_1', name, arguments: [input] }] }));
    const output = await ask(request);
    await ask(codexGoesOn(request, output, 'so be it'));
    expect(sentText(1)).toContain('so be it');
    return output.at(-1)!;
  }

  it('in a namespace have one name there and both names here (case 61, agents 6)', async () => {
    const [name, input] = ['multi_agent_v1__close_agent', '{"target":"a"}'];
    expect(await called(first('codex'), name, input)).toMatchObject({
      type: 'function_call',
      namespace: 'multi_agent_v1',
      name: 'close_agent',
      arguments: input,
    });
    expect(toolNames(sent(0))).toEqual(['exec_command', name, 'multi_agent_v1__resume_agent']);
    expect(sentText(1).split(name)).toHaveLength(3);
    expect(sentText(1)).not.toMatch(FOREIGN_WORDS);
  });

  it('that take any text take it in an object there, and as it is here (case 62, agents 6)', async () => {
    const call = await called(first('codex-freeform'), 'apply_patch', JSON.stringify({ input: PATCH }));
    expect(call).toMatchObject({ type: 'custom_tool_call', name: 'apply_patch', input: PATCH });
    expect(toolNames(sent(0))).toEqual(['exec_command', 'apply_patch', 'tool_search']);
    expect(sentText(0)).toContain('The input must match this lark grammar');
    expect(sentText(1)).not.toMatch(FOREIGN_WORDS);
  });

  it('may stand in the input, in namespaces and free ones too (cases 61 and 62, agents 6)', async () => {
    const call = await called(first('codex-built-in'), 'functions__exec', JSON.stringify({ input: SCRIPT }));
    expect(call).toMatchObject({ type: 'custom_tool_call', namespace: 'functions', name: 'exec', input: SCRIPT });
    expect(toolNames(sent(0))).toEqual(['functions__exec', 'functions__wait', 'clock__sleep']);
    expect(sentText(1)).not.toMatch(FOREIGN_WORDS);
  });

  it('are offered and called once its own search found them', async () => {
    const request = first('codex-freeform');
    const calls = (name: string, input: string): void =>
      world.relay.upstream.scriptNext(
        responseIn(upstream, { toolCalls: [{ id: `c_${name}`, name, arguments: input }] }),
      );
    calls('tool_search', '{"query":"stock"}');
    const searched = await ask(request);
    expect(searched).toMatchObject([
      { type: 'tool_search_call', call_id: 'c_tool_search', execution: 'client', arguments: { query: 'stock' } },
    ]);
    const parameters = { type: 'object', properties: { article: { type: 'string' } } };
    const stock = { type: 'function', name: 'stock_of', strict: false, defer_loading: true, parameters };
    const found = {
      type: 'tool_search_output',
      call_id: 'c_tool_search',
      status: 'completed',
      execution: 'client',
      tools: [{ type: 'namespace', name: 'mcp__depot', description: 'Depot.', tools: [stock] }],
    };
    calls('mcp__depot__stock_of', '{"article":"bolts"}');
    const input = [...(request['input'] as JsonObject[]), ...searched, found];
    expect(await ask({ ...request, input })).toMatchObject([
      { type: 'function_call', namespace: 'mcp__depot', name: 'stock_of', arguments: '{"article":"bolts"}' },
    ]);
    expect(toolNames(sent(1))).toEqual(['exec_command', 'apply_patch', 'tool_search', 'mcp__depot__stock_of']);
    expect(sentText(1)).toContain('These tools can be used now: mcp__depot__stock_of.');
    expect(sentText(1)).not.toContain('defer_loading');
  });

  it('that only its vendor has are named in a warning (agents 6)', async () => {
    const { headers } = await post(first('codex-freeform'));
    expect(headers.get('x-relay-warnings')).toContain('unsupported_tool:tools[3]');
  });
});

describe.each(FOREIGN)('instructions of Codex with an upstream of %s', (upstream) => {
  const first = (name: AgentRequest): JsonObject => agentRequest(name, `over-${upstream}`);

  it('stand in front of what the user says, in their order (case 74, agents 5)', async () => {
    await ask(first('codex'));
    const { system, messages } = sent(0) as { system?: JsonObject[]; messages: JsonObject[] };
    expect(JSON.stringify(system ?? messages[0])).toMatch(/You are a coding agent.*<skills_.*<permissions /);
    expect(messages.map(({ role }) => role)).toEqual(system === undefined ? ['system', 'user'] : ['user']);
  });

  it('are compacted when its built-in provider asks for it (agents 7)', async () => {
    const input = [...(first('codex-built-in')['input'] as JsonObject[]), { type: 'compaction_trigger' }];
    world.relay.upstream.scriptNext(responseIn(upstream, { text: 'So far.' }));
    const response = await post({ ...first('codex-built-in'), input });
    expect(foldedResponse(await response.text())['output']).toMatchObject([{ type: 'compaction' }]);
  });
});

describe.each(FOREIGN)('built-in tools of other clients with an upstream of %s', (upstream) => {
  const tools = [{ type: 'shell', environment: { type: 'local' } }, { type: 'local_shell' }, { type: 'apply_patch' }];
  const operation = { type: 'create_file', path: 'ä.txt', diff: '+"42"' };

  // Large requests are translated in a thread.
  it.each([1, 2 * 1024 * 1024])('are called in their own form after a prompt of %i bytes', async (length) => {
    const input = [{ role: 'user', content: ' '.repeat(length - 1) + 'x' }];
    const request = { model: `over-${upstream}`, stream: true, store: false, tools, input };
    const toolCalls = [
      { id: 'c_1', name: 'shell', arguments: ['{"commands":', '["ls"]}'] },
      { id: 'c_2', name: 'apply_patch', arguments: JSON.stringify(operation) },
    ];
    world.relay.upstream.scriptNext(responseIn(upstream, { toolCalls }));
    const output = await ask(request);
    expect(output).toMatchObject([
      { type: 'shell_call', call_id: 'c_1', action: { commands: ['ls'] }, environment: { type: 'local' } },
      { type: 'apply_patch_call', call_id: 'c_2', operation },
    ]);
    const outcome = { type: 'exit', exit_code: 0 };
    const results = [
      { type: 'shell_call_output', call_id: 'c_1', output: [{ stdout: 'a.txt', stderr: '', outcome }] },
      { type: 'apply_patch_call_output', call_id: 'c_2', status: 'failed', output: 'It exists.' },
    ];
    await ask({ ...request, input: [...input, ...output, ...results] });
    expect(toolNames(sent(1))).toEqual(['shell', 'local_shell', 'apply_patch']);
    expect(sentText(1)).toMatch(/a\.txt.*exit_code.*It exists\./);
    expect(sentText(1)).not.toMatch(/shell_call|patch_call|rly1\./);
  });
});
