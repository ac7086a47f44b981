import type { NeutralRequest, NeutralTurn } from '../../../support/neutral-request.js';
import type { JsonObject } from '../../../support/scripted-steps.js';

interface Item extends JsonObject {
  readonly type?: string;
}

export function responsesRequest(requested: NeutralRequest): JsonObject {
  const { toolChoice } = requested;
  return {
    store: false,
    ...(requested.system !== undefined && { instructions: requested.system }),
    input: requested.turns.flatMap(itemsOf),
    ...(requested.tools && {
      tools: requested.tools.map(({ name, description, schema }) => ({
        type: 'function',
        name,
        description,
        parameters: schema,
        strict: false,
      })),
    }),
    ...(toolChoice !== undefined && {
      tool_choice: typeof toolChoice === 'string' ? toolChoice : { type: 'function', ...toolChoice },
    }),
    ...(requested.isSerial && { parallel_tool_calls: false }),
    ...(requested.schema && {
      text: { format: { type: 'json_schema', name: 'answer', schema: requested.schema, strict: true } },
    }),
    ...(requested.outputLimit !== undefined && { max_output_tokens: requested.outputLimit }),
  };
}

function itemsOf(turn: NeutralTurn): Item[] {
  if (turn.by === 'assistant') {
    const content = [{ type: 'output_text', text: turn.text, annotations: [] }];
    return [
      ...(turn.text === undefined ? [] : [{ type: 'message', role: 'assistant', content }]),
      ...(turn.calls ?? []).map(({ id, ...call }) => ({ type: 'function_call', call_id: id, ...call })),
    ];
  }
  const image = { type: 'input_image', image_url: `data:image/png;base64,${turn.image}`, detail: 'auto' };
  const content = turn.image === undefined ? turn.text : [{ type: 'input_text', text: turn.text }, image];
  if (turn.by === 'user') return [{ role: 'user', content }];
  return [{ type: 'function_call_output', call_id: turn.id, output: content }];
}

/** Reads requests in any wording. */
export function readResponsesRequest(request: JsonObject): object {
  const choice = request['tool_choice'] as string | { name: string } | undefined;
  const format = (request['text'] as { format?: JsonObject } | undefined)?.format;
  const input = request['input'] as string | Item[];
  const items = typeof input === 'string' ? [{ role: 'user', content: input }] : input;
  const leading = items.filter(({ role }) => role === 'system' || role === 'developer');
  const system = [request['instructions'], ...leading.map(({ content }) => textIn(content))].filter(Boolean);
  return {
    system: system.join('\n') || undefined,
    turns: joined(items.filter((item) => !leading.includes(item)).flatMap(turnOf)),
    tools: (request['tools'] as JsonObject[] | undefined)?.map(({ name, description, parameters }) => ({
      name,
      description,
      schema: parameters,
    })),
    toolChoice: typeof choice === 'object' ? { name: choice.name } : choice,
    isSerial: request['parallel_tool_calls'] === false || undefined,
    schema: format?.['schema'],
    outputLimit: request['max_output_tokens'],
  };
}

interface ReadTurn {
  readonly by: unknown;
  readonly id?: unknown;
  readonly text?: string | undefined;
  readonly image?: string | undefined;
  readonly calls?: readonly object[];
}

function turnOf(item: Item): ReadTurn[] {
  const { type, role, content, call_id: id, name, arguments: json, output } = item as JsonObject;
  if (type === 'function_call') return [{ by: 'assistant', calls: [{ id, name, arguments: json }] }];
  if (type === 'function_call_output') return [{ by: 'tool', id, text: textIn(output), image: imageIn(output) }];
  return role === undefined ? [] : [{ by: role, text: textIn(content) || undefined, image: imageIn(content) }];
}

/** Adjacent assistant items are one turn. */
function joined(turns: readonly ReadTurn[]): ReadTurn[] {
  const all: ReadTurn[] = [];
  for (const turn of turns) {
    const last = all.at(-1);
    if (turn.by !== 'assistant' || last?.by !== 'assistant' || turn.text !== undefined) all.push(turn);
    else all[all.length - 1] = { ...last, calls: [...(last.calls ?? []), ...(turn.calls ?? [])] };
  }
  return all;
}

const partsIn = (content: unknown): JsonObject[] => (Array.isArray(content) ? (content as JsonObject[]) : []);

const textIn = (content: unknown): string =>
  typeof content === 'string'
    ? content
    : partsIn(content)
        .map(({ text }) => (text as string) ?? '')
        .join('');

const imageIn = (content: unknown): string | undefined =>
  partsIn(content)
    .map(({ image_url }) => image_url as string | undefined)
    .find((url) => url !== undefined)
    ?.replace('data:image/png;base64,', '');
