import type { NeutralTurn } from '../../support/neutral-request.js';
import type { NeutralResponse } from '../../support/neutral-response.js';
import type { ScriptedStop } from '../../support/scripted-content.js';
import type { JsonObject } from '../../support/scripted-steps.js';
import { type ReadEvent, readEvents, withoutKeepAlives } from '../../support/stream-text.js';
import type { ClientDouble } from '../client-double.js';
import { TELEGRAPH_LACKS } from './lacks.js';

/**
 * A client of Telegraph, written from the protocol's documentation and without the adapter. It is strict: a response
 * that a real client could reject fails the test.
 */
export const telegraphClient: ClientDouble = {
  id: 'telegraph',
  lacks: TELEGRAPH_LACKS,
  path: '/v1/telegrams',
  wantsReasoning: {},
  request: ({ system, turns, tools, toolChoice, outputLimit }, stream) => ({
    lines: [...(system === undefined ? [] : [{ from: 'system', text: system }]), ...turns.flatMap(linesOf)],
    ...(tools && { tools: tools.map(({ name, description, schema }) => ({ name, about: description, schema })) }),
    ...(toolChoice !== undefined && { use: typeof toolChoice === 'string' ? toolChoice : { tool: toolChoice.name } }),
    ...(outputLimit !== undefined && { limit: outputLimit }),
    ...(stream && { stream }),
  }),
  readResponse: received,
  readStream: (stream) => received(folded(stream)),
  expectFailure(before, ending) {
    expectLines(before.slice(1).map(dataOf));
    expect(ending.map(dataOf)).toEqual([
      { error: { status: expect.any(Number), message: expect.any(String), param: null } },
    ]);
  },
  continued(request, response, callId) {
    const whole = response.startsWith('{') ? (JSON.parse(response) as JsonObject) : folded(response);
    const lines = [...(request['lines'] as JsonObject[]), ...(whole['lines'] as JsonObject[])];
    return { ...request, lines: [...lines, { result: callId, text: 'Snow.' }] };
  },
};

function linesOf(turn: NeutralTurn): JsonObject[] {
  if (turn.by === 'tool') return [{ result: turn.id, text: turn.text }];
  if (turn.by === 'user') return [{ from: 'user', text: turn.text }];
  const calls = (turn.calls ?? []).map(({ id, name, arguments: text }) => ({ call: id, tool: name, arguments: text }));
  return [...(turn.text === undefined ? [] : [{ from: 'model', text: turn.text }]), ...calls];
}

const STOPS: Readonly<Record<string, ScriptedStop>> = {
  done: 'end',
  length: 'length',
  tools: 'tools',
  filter: 'filter',
};

function received({ id, lines, end, usage }: JsonObject): NeutralResponse {
  expect(id).toMatch(/^tg_/);
  const said = lines as Record<string, string>[];
  for (const { call, arguments: text } of said) if (call) expect(text).not.toBe('');
  const { read, cached, written, thought } = usage as Record<string, number>;
  return {
    text: said.map(({ text }) => text ?? '').join(''),
    reasoning: '',
    refusal: '',
    calls: said.filter(({ call }) => call).map(({ call, tool, arguments: text }) => `${call} ${tool} ${text}`),
    stop: STOPS[end as string]!,
    usage: { prompt: read!, cacheRead: cached!, completion: written!, reasoning: thought! },
  };
}

const dataOf = ({ event, data }: ReadEvent): JsonObject => {
  expect(event).toBeUndefined();
  return JSON.parse(data) as JsonObject;
};

/** Assembles the whole response from a stream. */
function folded(stream: string): JsonObject {
  const [head, ...said] = readEvents(withoutKeepAlives(stream)).map(dataOf);
  const ending = said.pop();
  return { ...head, lines: expectLines(said), ...ending };
}

/** Only the first event of a line has a sender; the others continue a line that has started. */
function expectLines(said: readonly JsonObject[]): JsonObject[] {
  const lines: Record<string, string>[] = [];
  for (const piece of said as Record<string, string>[]) {
    const { from, text, call, tool, arguments: written } = piece;
    if (from !== undefined || call !== undefined) {
      expect(from ?? tool).toEqual(expect.stringMatching(from === undefined ? /./ : /^model$/));
      lines.push({ ...piece, ...(call !== undefined && { arguments: '' }) });
      continue;
    }
    const line = lines.at(-1)!;
    expect(Object.keys(piece)).toEqual([line['call'] === undefined ? 'text' : 'arguments']);
    if (text !== undefined) line['text'] += text;
    else line['arguments'] += written!;
  }
  return lines;
}
