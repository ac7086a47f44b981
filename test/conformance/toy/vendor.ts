import type { NeutralRequest } from '../../support/neutral-request.js';
import { modelIn, streamIn } from '../../support/scripted-bodies.js';
import { type ResponseOptions, fillContent, type ScriptedContent } from '../../support/scripted-content.js';
import type { JsonObject, ScriptedEvent } from '../../support/scripted-steps.js';
import type { VendorDouble } from '../vendor-double.js';
import { TELEGRAPH_LACKS } from './lacks.js';

/**
 * A Telegraph vendor, written from the protocol's documentation and without the adapter. It returns any response that a
 * test needs, and rejects every request that the real vendor would reject.
 */
export const telegraphVendor: VendorDouble = {
  id: 'telegraph',
  lacks: TELEGRAPH_LACKS,
  flags: {},
  headers: {},
  closes: /"end":/,
  reasoningMark: undefined,
  isCall: ({ path }) => path.endsWith('/telegrams'),
  wantsStream: streamIn,
  modelOf: modelIn,
  events,
  body(options) {
    const content = fillContent(options ?? {});
    const { text, toolCalls } = content;
    const calls = toolCalls.map(({ id, name, arguments: pieces }) => callOf(id, name, pieces.join('')));
    const said = text.length === 0 ? [] : [{ from: 'model', text: text.join('') }];
    return { ...headOf(content), lines: [...said, ...calls], ...endingOf(content) };
  },
  errorBody: (status, message) => ({ error: { status, message, param: null } }),
  tooLong: {
    status: 400,
    body: { error: { status: 400, message: 'This telegram is too much for one wire.', param: 'lines' } },
  },
  errorEvents: (message) => [{ data: { error: { status: 500, message, param: null } } }],
  listing: {
    expectRequest: ({ path }) => expect(path).toBe('/models'),
    body: (names) => ({ wires: names.map((wire) => ({ wire, to: 'Oslo' })) }),
  },
  readRequest: readTelegraphRequest,
  expectRequest,
};

const ENDS = { end: 'done', length: 'length', tools: 'tools', filter: 'filter' } as const;

const headOf = ({ id, model }: ScriptedContent): JsonObject => ({ id: id ?? 'tg_1', model });

const endingOf = ({ stop, usage }: ScriptedContent): JsonObject => ({
  end: ENDS[stop],
  usage: { read: usage.prompt, cached: usage.cacheRead, written: usage.completion, thought: usage.reasoning },
});

const callOf = (call: string, tool: string, text?: string): JsonObject => ({ call, tool, arguments: text });

function events(options: ResponseOptions = {}): ScriptedEvent[] {
  const content = fillContent(options);
  const texts = content.text.map((text, index) => (index === 0 ? { from: 'model', text } : { text }));
  const calls = content.toolCalls.flatMap(({ id, name, arguments: pieces }) => [
    callOf(id, name),
    ...pieces.map((text) => ({ arguments: text })),
  ]);
  return [headOf(content), ...texts, ...calls, endingOf(content)].map((data) => ({ data }));
}

const TEXT = expect.stringMatching(/./) as unknown;

/**
 * Rejects malformed lines, results without a call and calls without a result. The kit sends random conversations of
 * every other protocol here: the stricter this is, the more the kit finds.
 */
function expectRequest({ model, lines, tools, use, limit, stream, ...others }: JsonObject): void {
  expect(others).toEqual({});
  expect(model).toEqual(TEXT);
  expect([undefined, true]).toContain(stream);
  if (limit !== undefined) expect(limit).toBeGreaterThanOrEqual(1);
  expectConversation(lines as readonly Record<string, string>[]);
  const names = ((tools ?? []) as JsonObject[]).map(({ name, schema }) => {
    expect(schema).toMatchObject({ type: 'object' });
    return name;
  });
  expect(new Set(names).size).toBe(names.length);
  for (const name of names) expect(name).toMatch(/^[\w-]{1,64}$/);
  if (typeof use === 'object') expect(names).toContain((use as JsonObject)['tool']);
  else expect(['auto', 'none', 'required', undefined]).toContain(use);
}

function expectConversation(lines: readonly Record<string, string>[]): void {
  const open = new Set<string>();
  lines.forEach((line, index) => {
    if (line['call'] !== undefined) {
      expect(line).toEqual({ call: TEXT, tool: TEXT, arguments: TEXT });
      open.add(line['call']);
    } else if (line['result'] !== undefined) {
      const { result, text, failed, ...others } = line;
      expect([result, text, failed ?? true, others]).toEqual([TEXT, expect.any(String), true, {}]);
      expect(open.delete(result)).toBe(true);
    } else {
      expect(line).toEqual({
        from: expect.stringMatching(/^(system|user|model)$/),
        text: expect.any(String) as unknown,
      });
      // All results come before the next line of the user or the system.
      if (line['from'] !== 'model') expect([index, ...open]).toEqual([index]);
    }
  });
}

/** Reads a request into a `NeutralRequest`. */
function readTelegraphRequest(request: JsonObject): object {
  const lines = request['lines'] as Record<string, string>[];
  const system = lines.filter(({ from }) => from === 'system').map(({ text }) => text);
  const tools = request['tools'] as JsonObject[] | undefined;
  const use = request['use'] as string | { readonly tool: string } | undefined;
  const requested: { -readonly [Member in keyof NeutralRequest]: unknown } = {
    system: system.length === 0 ? undefined : system.join('\n'),
    turns: turnsOf(lines.filter(({ from }) => from !== 'system')),
    tools: tools?.map(({ name, about, schema }) => ({ name, description: about, schema })),
    toolChoice: typeof use === 'object' ? { name: use.tool } : use,
    outputLimit: request['limit'],
  };
  return requested;
}

/** Adjacent text and tool calls of the model are one turn. */
function turnsOf(lines: readonly Record<string, string>[]): object[] {
  const turns: { by: string; text?: string; id?: string; calls?: object[] }[] = [];
  for (const { from, text, call, tool, result, arguments: written } of lines) {
    const last = turns.at(-1);
    if (result !== undefined) turns.push({ by: 'tool', id: result, text: text! });
    else if (from === 'user') turns.push({ by: 'user', text: text! });
    else if (call === undefined) turns.push({ by: 'assistant', text: text! });
    else {
      const made = { id: call, name: tool, arguments: written };
      if (last?.by === 'assistant') last.calls = [...(last.calls ?? []), made];
      else turns.push({ by: 'assistant', calls: [made] });
    }
  }
  return turns;
}
