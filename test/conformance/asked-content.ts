/** What is asked in no dialect, as the relay's own type has it: what a client half is to read, and an upstream half to build. */

import { type CallContent, type ImagePart, type Part, RawJson, type Tool, type Turn } from '../../src/call/index.js';
import type { Asked, AskedTurn } from '../support/asked.js';
import { aContent } from '../support/translations.js';

/** @param more of the content: what `Asked` has no member for */
export function contentAsking(asked: Asked, more: Partial<CallContent> = {}): CallContent {
  const { system, toolChoice = 'auto', schema, tools = [] } = asked;
  return aContent({
    lead: system === undefined ? [] : [{ kind: 'text', text: system }],
    turns: turnsOf(asked.turns),
    tools: tools.map(({ schema: json, ...tool }, index): Tool => ({
      ...tool,
      schema: new RawJson(JSON.stringify(json)),
      path: `tools[${index}]`,
    })),
    toolChoice: typeof toolChoice === 'string' ? { mode: toolChoice } : { mode: 'one', ...toolChoice },
    parallelTools: asked.isSerial === true ? false : undefined,
    outputLimit: asked.outputLimit,
    ...(schema && {
      format: { kind: 'schema', schema: new RawJson(JSON.stringify(schema)), name: 'answer', strict: true },
    }),
    ...more,
  });
}

/** Results and what the user says behind them are one turn. */
function turnsOf(asked: readonly AskedTurn[]): readonly Turn[] {
  const turns: Turn[] = [];
  for (const turn of asked) {
    const role = turn.by === 'assistant' ? 'assistant' : 'user';
    const last = turns.at(-1);
    if (last?.role === role) turns[turns.length - 1] = { role, parts: [...last.parts, ...partsOf(turn)] };
    else turns.push({ role, parts: partsOf(turn) });
  }
  return turns;
}

function partsOf(turn: AskedTurn): readonly Part[] {
  const said: readonly Part[] = turn.text === undefined ? [] : [{ kind: 'text', text: turn.text }];
  switch (turn.by) {
    case 'user':
      return [...said, ...imagesOf(turn.image)];
    case 'assistant':
      return [...said, ...(turn.calls ?? []).map((call): Part => ({ kind: 'tool-call', ...call }))];
    case 'tool': {
      const parts = [{ kind: 'text', text: turn.text } as const, ...imagesOf(turn.image)];
      return [{ kind: 'tool-result', id: turn.id, parts, isError: false }];
    }
  }
}

const imagesOf = (base64: string | undefined): readonly ImagePart[] =>
  base64 === undefined ? [] : [{ kind: 'image', source: { from: 'data', mediaType: 'image/png', base64 } }];
