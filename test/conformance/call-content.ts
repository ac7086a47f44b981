/** Requests of tests in the relay's own type, independent of protocols. */

import {
  type CallContent,
  type ImagePart,
  type Part,
  RawJson,
  type Tool,
  type ToolCallPart,
  type Turn,
} from '../../src/protocols/contract/index.js';
import type { NeutralRequest, NeutralTurn } from '../support/neutral-request.js';
import { textsIn } from '../support/stream-text.js';
import { aContent } from '../support/translations.js';

/** @param more members that `NeutralRequest` lacks */
export function callContentOf(requested: NeutralRequest, more: Partial<CallContent> = {}): CallContent {
  const { system, toolChoice = 'auto', schema, tools = [] } = requested;
  return aContent({
    lead: system === undefined ? [] : [{ kind: 'text', text: system }],
    turns: turnsOf(requested.turns),
    tools: tools.map(({ schema: json, ...tool }, index): Tool => ({
      ...tool,
      schema: new RawJson(JSON.stringify(json)),
      path: `tools[${index}]`,
    })),
    toolChoice: typeof toolChoice === 'string' ? { mode: toolChoice } : { mode: 'one', ...toolChoice },
    parallelTools: requested.isSerial === true ? false : undefined,
    outputLimit: requested.outputLimit,
    stop: requested.stop ?? [],
    ...(schema && {
      format: { kind: 'schema', schema: new RawJson(JSON.stringify(schema)), name: 'answer', strict: true },
    }),
    ...more,
  });
}

/** Results and following user content are one turn. */
function turnsOf(requested: readonly NeutralTurn[]): readonly Turn[] {
  const turns: Turn[] = [];
  for (const turn of requested) {
    const role = turn.by === 'assistant' ? 'assistant' : 'user';
    const last = turns.at(-1);
    if (last?.role === role) turns[turns.length - 1] = { role, parts: [...last.parts, ...partsOf(turn)] };
    else turns.push({ role, parts: partsOf(turn) });
  }
  return turns;
}

function partsOf(turn: NeutralTurn): readonly Part[] {
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

/** Unset members are absent, except for the default choice of tools. */
export function neutralRequestOfContent(content: CallContent): NeutralRequest {
  const { lead, turns, tools, toolChoice, format, outputLimit, stop } = content;
  const requested = {
    system: lead.length === 0 ? undefined : lead.map(({ text }) => text).join('\n'),
    turns: turns.flatMap(userTurns),
    tools: tools.length === 0 ? undefined : tools.map(askedTool),
    toolChoice:
      tools.length === 0 ? undefined : toolChoice.mode === 'one' ? { name: toolChoice.name } : toolChoice.mode,
    isSerial: content.parallelTools === false ? true : undefined,
    schema: format.kind === 'schema' ? format.schema.value : undefined,
    outputLimit,
    stop: stop.length === 0 ? undefined : stop,
  };
  return JSON.parse(JSON.stringify(requested)) as NeutralRequest;
}

const askedTool = ({ name, description, schema }: Tool): object => ({ name, description, schema: schema?.value });

/** Each result by itself, and the content after them. */
function userTurns({ role, parts }: Turn): object[] {
  const results = parts.filter((part) => part.kind === 'tool-result');
  const calls = parts.filter((part) => part.kind === 'tool-call');
  const said = { text: textIn(parts), image: imageIn(parts) };
  return [
    ...results.map(({ id, parts: inside }) => ({ by: 'tool', id, text: textIn(inside), image: imageIn(inside) })),
    ...(parts.length > results.length
      ? [{ by: role, ...said, ...(calls.length > 0 && { calls: calls.map(askedCall) }) }]
      : []),
  ];
}

const askedCall = ({ id, name, arguments: json }: ToolCallPart): object => ({ id, name, arguments: json });

const textIn = (parts: readonly Part[]): string | undefined =>
  textsIn(parts.map((part) => (part.kind === 'text' ? part.text : undefined))) || undefined;

const imageIn = (parts: readonly Part[]): string | undefined =>
  parts.flatMap((part) => (part.kind === 'image' && part.source.from === 'data' ? [part.source.base64] : []))[0];
