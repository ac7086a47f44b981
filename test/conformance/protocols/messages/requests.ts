import type { NeutralRequest, NeutralTurn } from '../../../support/neutral-request.js';
import type { JsonObject } from '../../../support/scripted-steps.js';

interface Block extends JsonObject {
  readonly type: string;
}

const CHOICES = { auto: 'auto', required: 'any', none: 'none' } as const;

/** `POST /messages`. */
export function messagesRequest(requested: NeutralRequest): JsonObject {
  const { toolChoice } = requested;
  const choice =
    typeof toolChoice === 'object' ? { type: 'tool', ...toolChoice } : { type: CHOICES[toolChoice ?? 'auto'] };
  return {
    max_tokens: requested.outputLimit ?? 1000,
    ...(requested.system !== undefined && { system: requested.system }),
    messages: messagesOf(requested.turns),
    ...(requested.tools && {
      tools: requested.tools.map(({ name, description, schema }) => ({ name, description, input_schema: schema })),
    }),
    ...((toolChoice !== undefined || requested.isSerial) && {
      tool_choice: { ...choice, ...(requested.isSerial && { disable_parallel_tool_use: true }) },
    }),
    ...(requested.stop && { stop_sequences: requested.stop }),
    ...(requested.schema && { output_config: { format: { type: 'json_schema', schema: requested.schema } } }),
  };
}

/** Results and following user content are one message. */
function messagesOf(turns: readonly NeutralTurn[]): JsonObject[] {
  const messages: { readonly role: string; readonly content: Block[] }[] = [];
  for (const turn of turns) {
    const role = turn.by === 'assistant' ? 'assistant' : 'user';
    const last = messages.at(-1);
    if (last?.role === role) last.content.push(...blocksOf(turn));
    else messages.push({ role, content: blocksOf(turn) });
  }
  return messages;
}

function blocksOf(turn: NeutralTurn): Block[] {
  const said: Block[] = turn.text === undefined || turn.text === '' ? [] : [{ type: 'text', text: turn.text }];
  if (turn.by === 'assistant') {
    const calls = (turn.calls ?? []).map(({ id, name, arguments: json }) => ({
      type: 'tool_use',
      id,
      name,
      input: JSON.parse(json) as JsonObject,
    }));
    return [...said, ...calls];
  }
  const source = { type: 'base64', media_type: 'image/png', data: turn.image };
  const content: Block[] = turn.image === undefined ? said : [...said, { type: 'image', source }];
  return turn.by === 'user' ? content : [{ type: 'tool_result', tool_use_id: turn.id, content }];
}

/** Reads requests in any wording. */
export function readMessagesRequest(request: JsonObject): object {
  const { system } = request;
  const choice = request['tool_choice'] as
    { type: string; name?: string; disable_parallel_tool_use?: boolean } | undefined;
  const plain = (Object.entries(CHOICES).find(([, type]) => type === choice?.type) ?? [])[0];
  const config = request['output_config'] as { format?: { schema: JsonObject } } | undefined;
  return {
    system: typeof system === 'string' ? system : (system as Block[] | undefined)?.map(({ text }) => text).join('\n'),
    turns: (request['messages'] as { role: string; content: string | Block[] }[]).flatMap(turnsOf),
    tools: (request['tools'] as JsonObject[] | undefined)?.map(({ name, description, input_schema }) => ({
      name,
      description,
      schema: input_schema,
    })),
    toolChoice: choice?.type === 'tool' ? { name: choice.name } : plain,
    isSerial: choice?.disable_parallel_tool_use,
    schema: config?.format?.schema,
    outputLimit: request['max_tokens'],
  };
}

function turnsOf({ role, content }: { role: string; content: string | Block[] }): object[] {
  const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : content;
  const results = blocks.filter(({ type }) => type === 'tool_result');
  const calls = blocks.filter(({ type }) => type === 'tool_use') as readonly JsonObject[];
  const rest = blocks.filter(({ type }) => type === 'text' || type === 'image');
  const said = { text: textIn(rest) || undefined, image: imageIn(rest) };
  return [
    ...results.map((result) => {
      const parts = (result as JsonObject)['content'] ?? [];
      const inside = typeof parts === 'string' ? [{ type: 'text', text: parts }] : (parts as Block[]);
      return { by: 'tool', id: (result as JsonObject)['tool_use_id'], text: textIn(inside), image: imageIn(inside) };
    }),
    ...(rest.length + calls.length > 0
      ? [{ by: role, ...said, ...(calls.length > 0 && { calls: calls.map(callOf) }) }]
      : []),
  ];
}

const callOf = ({ id, name, input }: JsonObject): object => ({ id, name, arguments: JSON.stringify(input) });

const textIn = (blocks: readonly JsonObject[]): string => blocks.map(({ text }) => (text as string) ?? '').join('');

const imageIn = (blocks: readonly JsonObject[]): unknown =>
  blocks.map(({ source }) => (source as JsonObject | undefined)?.['data']).find((data) => data !== undefined);
