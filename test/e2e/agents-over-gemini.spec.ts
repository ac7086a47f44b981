import { THOUGHT_SIGNATURE } from '../conformance/protocols/gemini/answers.js';
import type { Content } from '../conformance/protocols/gemini/requests.js';
import { geminiVendor } from '../conformance/protocols/gemini/vendor.js';
import { foldedMessage } from '../conformance/protocols/messages/responses.js';
import { foldedResponse } from '../conformance/protocols/responses/responses.js';
import { type AgentRequest, agentRequest, claudeGoesOn, codexGoesOn } from '../support/agents.js';
import { PATHS } from '../support/protocols.js';
import { usePairsRelay } from '../support/pairs-relay.js';
import { responseIn, type AnswerOptions, type JsonObject } from '../support/scripted-upstream.js';
import { readStream } from '../support/protocol-doubles.js';

const PATCH = '*** Begin Patch\n*** Add File: ä.txt\n+"42"\n*** End Patch';

/** What only the agents' own vendors have a place for. */
const FOREIGN_WORDS =
  /cache_control|context_management|defer_loading|\$schema|client_metadata|prompt_cache_key|"(?:namespace|custom)"|rly1\./;

const world = usePairsRelay();

const willSay = (options: AnswerOptions): void => world.relay.upstream.scriptNext(responseIn('gemini', options));
const sent = (at: number): JsonObject => world.relay.upstream.requests[at]!.json;
const contentsOf = (at: number): readonly Content[] => sent(at)['contents'] as readonly Content[];
const toolNames = (at: number): readonly string[] => {
  const [{ functionDeclarations }] = sent(at)['tools'] as [{ functionDeclarations: readonly { name: string }[] }];
  return functionDeclarations.map(({ name }) => name);
};

/** That the vendor takes every request, and finds nothing of another in it. */
function expectOwnWords(): void {
  for (const { json, body } of world.relay.upstream.requests) {
    geminiVendor.expectRequest(json);
    expect(body.toString()).not.toMatch(FOREIGN_WORDS);
  }
}

describe('Claude Code over Gemini', () => {
  const first = agentRequest('claude-code', 'over-gemini');
  const LIST = { id: 'call_1', name: 'Bash', arguments: '{"command":"ls"}' };

  async function ask(request: JsonObject): Promise<readonly JsonObject[]> {
    const headers = { 'anthropic-version': '2023-06-01', 'anthropic-beta': 'claude-code-20250219' };
    const response = await world.relay.post(`${PATHS.messages}?beta=true`, world.caller.key, request, headers);
    const text = await response.text();
    readStream('messages', text);
    return foldedMessage(text)['content'] as JsonObject[];
  }

  it('calls a tool, and goes on with the signature of the call (agents 5 and 8)', async () => {
    willSay({ reasoning: 'Hm.', text: 'Now.', toolCalls: [LIST] });
    const content = await ask(first);
    expect(content.at(-1)).toEqual({ type: 'tool_use', id: 'call_1', name: 'Bash', input: { command: 'ls' } });
    await ask(claudeGoesOn(first, content, 'a.txt'));
    expect(contentsOf(1).slice(-2)).toEqual([
      {
        role: 'model',
        parts: [
          { text: 'Now.' },
          {
            functionCall: { id: 'call_1', name: 'Bash', args: { command: 'ls' } },
            thoughtSignature: THOUGHT_SIGNATURE,
          },
        ],
      },
      {
        role: 'user',
        parts: [{ functionResponse: { id: 'call_1', name: 'Bash', response: { output: 'a.txt' } } }],
      },
    ]);
    expectOwnWords();
  });

  it('has its instructions in front and in their place, and all its tools (case 74, agents 5)', async () => {
    await ask(first);
    expect(JSON.stringify(sent(0)['systemInstruction'])).toMatch(/You are a Claude agent.*You are an agent working/);
    const [{ role, parts }] = contentsOf(0) as [Content];
    expect([role, parts.at(-1)!.text]).toEqual(['user', expect.stringMatching(/^<system-reminder>\n# Environment/)]);
    expect(toolNames(0)).toEqual(['Bash', 'ToolSearch', 'Write']);
  });
});

describe('Codex over Gemini', () => {
  const first = (name: AgentRequest): JsonObject => agentRequest(name, 'over-gemini');

  async function ask(request: JsonObject): Promise<readonly JsonObject[]> {
    const text = await (await world.relay.post(PATHS.responses, world.caller.key, request)).text();
    readStream('responses', text);
    return foldedResponse(text)['output'] as JsonObject[];
  }

  it.each<AgentRequest>(['codex', 'codex-freeform', 'codex-built-in'])(
    '%s: it is answered by the first request (cases 61 and 62, agents 5 and 6)',
    async (name) => {
      willSay({ text: ['Hel', 'lo'] });
      const [message] = await ask(first(name));
      expect(message).toMatchObject({ type: 'message', content: [{ type: 'output_text', text: 'Hello' }] });
      expectOwnWords();
    },
  );

  it('a tool is called, and its result goes up with the signature of the call (case 61, agents 8)', async () => {
    willSay({ reasoning: 'Hm.', toolCalls: [{ id: 'call_1', name: 'exec_command', arguments: '{"cmd":"ls"}' }] });
    const output = await ask(first('codex'));
    expect(output.at(-1)).toMatchObject({ type: 'function_call', name: 'exec_command', arguments: '{"cmd":"ls"}' });
    await ask(codexGoesOn(first('codex'), output, 'a.txt'));
    const [call] = contentsOf(1).at(-2)!.parts;
    expect(call).toMatchObject({ functionCall: { id: 'call_1' }, thoughtSignature: THOUGHT_SIGNATURE });
    expectOwnWords();
  });

  it('tools in a namespace have one name there and both names here (case 61, agents 6)', async () => {
    willSay({ toolCalls: [{ id: 'call_1', name: 'multi_agent_v1__close_agent', arguments: '{"target":"a"}' }] });
    const output = await ask(first('codex'));
    expect(output.at(-1)).toMatchObject({ namespace: 'multi_agent_v1', name: 'close_agent' });
    await ask(codexGoesOn(first('codex'), output, 'so be it'));
    expect(toolNames(1)).toContain('multi_agent_v1__close_agent');
    expectOwnWords();
  });

  it('tools that take any text take it in an object there, and as it is here (case 62, agents 6)', async () => {
    willSay({ toolCalls: [{ id: 'call_1', name: 'apply_patch', arguments: JSON.stringify({ input: PATCH }) }] });
    const output = await ask(first('codex-freeform'));
    expect(output.at(-1)).toMatchObject({ type: 'custom_tool_call', name: 'apply_patch', input: PATCH });
    await ask(codexGoesOn(first('codex-freeform'), output, 'so be it'));
    expect(contentsOf(1).at(-2)!.parts[0]).toMatchObject({ functionCall: { args: { input: PATCH } } });
    expectOwnWords();
  });
});
