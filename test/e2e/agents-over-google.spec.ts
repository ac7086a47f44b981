import { THOUGHT_SIGNATURE as CALL_SIGNATURE } from '../conformance/protocols/gemini/answers.js';
import { vendorOf } from '../conformance/protocols/index.js';
import { THOUGHT_SIGNATURE } from '../conformance/protocols/interactions/answers.js';
import { foldedMessage } from '../conformance/protocols/messages/responses.js';
import { foldedResponse } from '../conformance/protocols/responses/responses.js';
import { type AgentRequest, agentRequest, claudeGoesOn, codexGoesOn } from '../support/agents.js';
import { PATHS } from '../support/protocols.js';
import { PIXEL, usePairsRelay } from '../support/pairs-relay.js';
import { responseIn, type AnswerOptions, type JsonObject } from '../support/scripted-upstream.js';
import { readStream } from '../support/protocol-doubles.js';

const PATCH = '*** Begin Patch\n*** Add File: ä.txt\n+"42"\n*** End Patch';
const PDF = Buffer.from('%PDF-1.4').toString('base64');

/** What only the agents' own vendors have a place for. */
const FOREIGN_WORDS =
  /cache_control|context_management|defer_loading|\$schema|client_metadata|prompt_cache_key|"(?:namespace|custom)"|rly1\./;

interface Call {
  readonly id: string;
  readonly name: string;
  readonly args: JsonObject;
}

/** How a protocol of Google says what agents say. */
interface Wire {
  readonly contents: string;
  readonly instructions: string;
  readonly toolNames: (tools: readonly JsonObject[]) => readonly unknown[];
  readonly user: (text: unknown) => JsonObject;
  /** A turn of the model with the reasoning "Hm.", and the result of its call. */
  readonly called: (call: Call, text: string | undefined) => readonly JsonObject[];
  readonly answered: (call: Pick<Call, 'id' | 'name'>, output: string, media?: JsonObject) => JsonObject;
}

const WIRES: Readonly<Record<'gemini' | 'interactions', Wire>> = {
  gemini: {
    contents: 'contents',
    instructions: 'systemInstruction',
    toolNames: ([tool]) => (tool!['functionDeclarations'] as JsonObject[]).map(({ name }) => name),
    user: (text) => ({ role: 'user', parts: expect.arrayContaining([{ text }]) as unknown }),
    called: (functionCall, text) => {
      const call = { functionCall, thoughtSignature: CALL_SIGNATURE };
      return [{ role: 'model', parts: [...(text === undefined ? [] : [{ text }]), call] }];
    },
    answered: (call, output, media) => {
      const parts = media && [{ inlineData: { mimeType: media['mime_type'], data: media['data'] } }];
      return {
        role: 'user',
        parts: [{ functionResponse: { ...call, response: { output }, ...(parts && { parts }) } }],
      };
    },
  },
  interactions: {
    contents: 'input',
    instructions: 'system_instruction',
    toolNames: (tools) => tools.map(({ name }) => name),
    user: (text) => ({ type: 'user_input', content: expect.arrayContaining([{ type: 'text', text }]) as unknown }),
    called: ({ args, ...call }, text) => [
      { type: 'thought', signature: THOUGHT_SIGNATURE, summary: [{ type: 'text', text: 'Hm.' }] },
      ...(text === undefined ? [] : [{ type: 'model_output', content: [{ type: 'text', text }] }]),
      { type: 'function_call', ...call, arguments: args },
    ],
    answered: ({ id, name }, text, media) => {
      const result = media === undefined ? text : [{ type: 'text', text }, media];
      return { type: 'function_result', call_id: id, name, result };
    },
  },
};

const world = usePairsRelay();

const sent = (at: number): JsonObject => world.relay.upstream.requests[at]!.json;

describe.each(['gemini', 'interactions'] as const)('agents over %s', (upstream) => {
  const wire = WIRES[upstream];
  const willSay = (options: AnswerOptions): void => world.relay.upstream.scriptNext(responseIn(upstream, options));
  const contentsOf = (at: number): readonly JsonObject[] => sent(at)[wire.contents] as readonly JsonObject[];
  const toolNames = (at: number): readonly unknown[] => wire.toolNames(sent(at)['tools'] as JsonObject[]);

  /** That the vendor takes every request, and finds nothing of another in it. */
  function expectOwnWords(): void {
    for (const { json, body } of world.relay.upstream.requests) {
      vendorOf(upstream).expectRequest(json);
      expect(body.toString()).not.toMatch(FOREIGN_WORDS);
    }
  }

  describe('Claude Code', () => {
    const first = agentRequest('claude-code', `over-${upstream}`);
    const LIST = { id: 'call_1', name: 'Bash', args: { command: 'ls' } };
    const willList = (text?: string): void =>
      willSay({
        reasoning: 'Hm.',
        ...(text !== undefined && { text }),
        toolCalls: [{ ...LIST, arguments: JSON.stringify(LIST.args) }],
      });

    async function ask(request: JsonObject): Promise<readonly JsonObject[]> {
      const headers = { 'anthropic-version': '2023-06-01', 'anthropic-beta': 'claude-code-20250219' };
      const response = await world.relay.post(`${PATHS.messages}?beta=true`, world.caller.key, request, headers);
      const text = await response.text();
      readStream('messages', text);
      return foldedMessage(text)['content'] as JsonObject[];
    }

    it('calls a tool, and goes on with the signature of the call (agents 5 and 8)', async () => {
      willList('Now.');
      const content = await ask(first);
      expect(content.at(-1)).toEqual({ type: 'tool_use', id: 'call_1', name: 'Bash', input: LIST.args });
      await ask(claudeGoesOn(first, content, 'a.txt'));
      const expected = [...wire.called(LIST, 'Now.'), wire.answered({ id: 'call_1', name: 'Bash' }, 'a.txt')];
      expect(contentsOf(1).slice(-expected.length)).toEqual(expected);
      expectOwnWords();
    });

    it.each([
      ['image', 'image', 'image/png', PIXEL],
      ['document', 'document', 'application/pdf', PDF],
    ])('reads a file, and the upstream gets the %s in the result', async (type, contentType, mime_type, data) => {
      willList();
      const content = await ask(first);
      const file = { type, source: { type: 'base64', media_type: mime_type, data } };
      await ask(claudeGoesOn(first, content, [{ type: 'text', text: 'Read.' }, file]));
      const media = { type: contentType, data, mime_type };
      expect(contentsOf(1).at(-1)).toEqual(wire.answered({ id: 'call_1', name: 'Bash' }, 'Read.', media));
      expectOwnWords();
    });

    it('searches the web with the search of the upstream', async () => {
      willSay({ text: 'Sunny.' });
      const tools = [{ type: 'web_search_20250305', name: 'web_search', max_uses: 8 }];
      expect(await ask({ ...first, tools })).toMatchObject([{ type: 'text', text: 'Sunny.' }]);
      expect(sent(0)['tools']).toEqual([upstream === 'gemini' ? { googleSearch: {} } : { type: 'google_search' }]);
      expectOwnWords();
    });

    it('has its instructions in front and in their place, and all its tools (case 74, agents 5)', async () => {
      await ask(first);
      expect(JSON.stringify(sent(0)[wire.instructions])).toMatch(/You are a Claude agent.*You are an agent working/);
      const reminder = expect.stringMatching(/^<system-reminder>\n# Environment/) as unknown;
      expect(contentsOf(0)).toEqual([wire.user(reminder)]);
      expect(toolNames(0)).toEqual(['Bash', 'ToolSearch', 'Write']);
    });
  });

  describe('Codex', () => {
    const first = (name: AgentRequest): JsonObject => agentRequest(name, `over-${upstream}`);

    async function ask(request: JsonObject): Promise<readonly JsonObject[]> {
      const text = await (await world.relay.post(PATHS.responses, world.caller.key, request)).text();
      readStream('responses', text);
      return foldedResponse(text)['output'] as JsonObject[];
    }

    /** The last item of a response that calls a tool. Its result has been sent after it. */
    async function called(request: JsonObject, { id, name, args }: Call): Promise<JsonObject> {
      willSay({ reasoning: 'Hm.', toolCalls: [{ id, name, arguments: JSON.stringify(args) }] });
      const output = await ask(request);
      await ask(codexGoesOn(request, output, 'so be it'));
      const expected = [...wire.called({ id, name, args }, undefined), wire.answered({ id, name }, 'so be it')];
      expect(contentsOf(1).slice(-expected.length)).toEqual(expected);
      expectOwnWords();
      return output.at(-1)!;
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
      const call = { id: 'call_1', name: 'exec_command', args: { cmd: 'ls' } };
      expect(await called(first('codex'), call)).toMatchObject({
        type: 'function_call',
        name: 'exec_command',
        arguments: '{"cmd":"ls"}',
      });
    });

    it('tools in a namespace have one name there and both names here (case 61, agents 6)', async () => {
      const call = { id: 'call_1', name: 'multi_agent_v1__close_agent', args: { target: 'a' } };
      const item = await called(first('codex'), call);
      expect(item).toMatchObject({ namespace: 'multi_agent_v1', name: 'close_agent' });
      expect(toolNames(1)).toContain('multi_agent_v1__close_agent');
    });

    it('tools that take any text take it in an object there, and as it is here (case 62, agents 6)', async () => {
      const call = { id: 'call_1', name: 'apply_patch', args: { input: PATCH } };
      const item = await called(first('codex-freeform'), call);
      expect(item).toMatchObject({ type: 'custom_tool_call', name: 'apply_patch', input: PATCH });
    });

    it('tools in the input are offered and called (cases 61 and 62, agents 6)', async () => {
      const call = { id: 'call_1', name: 'functions__exec', args: { input: 'text(1);' } };
      const item = await called(first('codex-built-in'), call);
      expect(item).toMatchObject({ type: 'custom_tool_call', namespace: 'functions', name: 'exec', input: 'text(1);' });
      expect(toolNames(0)).toEqual(['functions__exec', 'functions__wait', 'clock__sleep']);
    });
  });
});
