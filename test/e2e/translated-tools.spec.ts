import type { NeutralRequest } from '../support/neutral-request.js';
import { PATHS } from '../support/protocols.js';
import { NAMED_PAIRS } from '../support/pairs.js';
import { usePairsRelay } from '../support/pairs-relay.js';
import {
  responseIn,
  type AnswerOptions,
  type JsonObject,
  type ScriptedToolCall,
} from '../support/scripted-upstream.js';
import { readRequest, readStream, requestIn } from '../support/protocol-doubles.js';
import { readEvents, withoutKeepAlives } from '../support/stream-text.js';

const world = usePairsRelay();
const FOREIGN_PAIRS = NAMED_PAIRS.filter(([, { client, upstream }]) => client !== upstream);

/** No vendor takes it: too long, and with signs that are in no name. */
const ODD_NAME = `mcp.files/read ${'x'.repeat(60)}`;
const ODD_ID = `functions.read:7${'y'.repeat(70)}`;
const SCHEMA = { type: 'object', properties: { path: { type: 'string' } } };

const requested = (name: string, id: string): NeutralRequest => ({
  turns: [
    { by: 'user', text: 'Read a file.' },
    { by: 'assistant', calls: [{ id, name, arguments: '{"path":"a"}' }] },
    { by: 'tool', id, text: 'nothing' },
  ],
  tools: [{ name, schema: SCHEMA }],
  outputLimit: 500,
});

describe.each(FOREIGN_PAIRS)('tools, %s', (_, { client, upstream, model }) => {
  async function ask(
    answer: (name: string) => AnswerOptions,
    wish: NeutralRequest = requested('read', 'call_1'),
  ): Promise<string> {
    world.relay.upstream.script(({ json }) =>
      responseIn(upstream, answer(readRequest(upstream, json).tools![0]!.name)),
    );
    const usage = client === 'chat-completions' ? { stream_options: { include_usage: true } } : {};
    const request = { model, stream: true, ...usage, ...requestIn(client, wish) };
    const response = await world.relay.post(PATHS[client], world.caller.key, request);
    const text = await response.text();
    expect([response.status, text]).toEqual([200, expect.anything()]);
    return text;
  }
  const calling =
    (call: Partial<ScriptedToolCall>, more: AnswerOptions = {}) =>
    (name: string): AnswerOptions => ({ toolCalls: [{ id: 'call_9', name, arguments: '{}', ...call }], ...more });

  it('a name that the upstream cannot take differs there, and itself for the client (case 63)', async () => {
    const stream = await ask(calling({}), requested(ODD_NAME, 'call_1'));
    expect(readStream(client, stream).calls).toEqual([`call_9 ${ODD_NAME} {}`]);
    const { tools, turns } = readRequest(upstream, (await world.relay.upstream.nextRequest()).json);
    const [{ name } = { name: '' }] = tools!;
    expect(name).toMatch(upstream === 'messages' ? /^[\w-]{1,128}$/ : /^[\w-]{1,64}$/);
    expect(turns[1]).toMatchObject({ calls: [{ id: 'call_1', name }] });
  });

  it('an id that the upstream cannot take is the same other one in a call and its result (case 64)', async () => {
    await ask(calling({}), requested('read', ODD_ID));
    const { turns } = readRequest(upstream, (await world.relay.upstream.nextRequest()).json);
    const called = turns[1]!.by === 'assistant' ? turns[1]!.calls : undefined;
    const [{ id } = { id: '' }] = called ?? [];
    expect(id).toMatch(upstream === 'messages' ? /^[\w-]+$/ : /^.{1,64}$/);
    expect(turns[2]).toMatchObject({ by: 'tool', id });
  });

  it('arguments are the same text: numbers of any size, escapes, half characters (case 54)', async () => {
    const json = '{"n":9007199254740993,"f":1.0,"s":"\\u2028\\ud83d ☃"}';
    const pieces = [json.slice(0, 9), json.slice(9, 33), json.slice(33)];
    expect(argumentsIn(await ask(calling({ arguments: pieces })))).toBe(json);
  });

  it('passes on arguments that a limit cut off as far as they arrived (case 53)', async () => {
    const cut = ['{"path":', '"some'];
    const stream = await ask(calling({ arguments: cut }, { stop: 'length', stream: true }));
    expect(argumentsIn(stream)).toBe(cut.join(''));
    expect(stream).toMatch(/"max_tokens"|"finish_reason":"length"|"reason":"max_output_tokens"/);
  });
});

/** What the deltas of the one call in a stream say. */
function argumentsIn(stream: string): string {
  const events = readEvents(withoutKeepAlives(stream)).filter(({ data }) => data !== '[DONE]');
  const pieces = events.map(({ event, data }) => {
    const parsed = JSON.parse(data) as JsonObject;
    if (event === 'response.function_call_arguments.delta') return parsed['delta'];
    if (event === 'content_block_delta') return (parsed['delta'] as { partial_json?: string }).partial_json;
    const [choice] = (parsed['choices'] ?? []) as { delta: { tool_calls?: { function: { arguments: string } }[] } }[];
    return choice?.delta.tool_calls?.[0]!.function.arguments;
  });
  return pieces.join('');
}
