import type { NeutralRequest, NeutralTurn } from '../../../support/neutral-request.js';
import type { JsonObject } from '../../../support/scripted-steps.js';

type Message = JsonObject & { readonly role: string };
interface ChatCall {
  readonly id: string;
  readonly function: { readonly name: string; readonly arguments: string };
}

/** `POST /chat/completions`. Results cannot contain images. */
export function chatRequest(requested: NeutralRequest): JsonObject {
  const { toolChoice } = requested;
  return {
    messages: [
      ...(requested.system === undefined ? [] : [{ role: 'system', content: requested.system }]),
      ...requested.turns.map(messageOf),
    ],
    ...(requested.tools && {
      tools: requested.tools.map(({ name, description, schema }) => ({
        type: 'function',
        function: { name, description, parameters: schema },
      })),
    }),
    ...(toolChoice !== undefined && {
      tool_choice: typeof toolChoice === 'string' ? toolChoice : { type: 'function', function: toolChoice },
    }),
    ...(requested.isSerial && { parallel_tool_calls: false }),
    ...(requested.schema && {
      response_format: { type: 'json_schema', json_schema: { name: 'answer', schema: requested.schema, strict: true } },
    }),
    ...(requested.outputLimit !== undefined && { max_completion_tokens: requested.outputLimit }),
    ...(requested.stop && { stop: requested.stop }),
  };
}

function messageOf(turn: NeutralTurn): Message {
  switch (turn.by) {
    case 'user': {
      const image = { type: 'image_url', image_url: { url: `data:image/png;base64,${turn.image}` } };
      return { role: 'user', content: turn.image ? [{ type: 'text', text: turn.text }, image] : turn.text };
    }
    case 'assistant':
      return {
        role: 'assistant',
        content: turn.text ?? null,
        ...(turn.calls && {
          tool_calls: turn.calls.map(({ id, ...called }) => ({ id, type: 'function', function: called })),
        }),
      };
    case 'tool':
      return { role: 'tool', tool_call_id: turn.id, content: turn.text };
  }
}

/** Reads requests in any wording. */
export function readChatRequest(request: JsonObject): object {
  const messages = request['messages'] as Message[];
  const leading = messages.findIndex(({ role }) => role !== 'system' && role !== 'developer');
  const format = request['response_format'] as { json_schema?: { schema: JsonObject } } | undefined;
  const choice = request['tool_choice'] as string | { function: { name: string } } | undefined;
  const tools = request['tools'] as { function: JsonObject }[] | undefined;
  return {
    system:
      messages
        .slice(0, leading)
        .map(({ content }) => textIn(content))
        .join('\n') || undefined,
    turns: withReturnedImages(messages.slice(leading).map(turnOf)),
    tools: tools?.map(({ function: tool }) => ({
      name: tool['name'],
      description: tool['description'],
      schema: tool['parameters'],
    })),
    toolChoice: typeof choice === 'object' ? { name: choice.function.name } : choice,
    isSerial: request['parallel_tool_calls'] === false || undefined,
    schema: format?.json_schema?.schema,
    outputLimit: request['max_completion_tokens'] ?? request['max_tokens'],
  };
}

interface ReadTurn {
  readonly by: string;
  readonly id?: unknown;
  readonly text: string | undefined;
  readonly image?: string | undefined;
  readonly calls?: unknown;
}

function turnOf({ role, content, ...message }: Message): ReadTurn {
  if (role === 'tool') return { by: 'tool', id: message['tool_call_id'], text: textIn(content) };
  if (role === 'user') return { by: 'user', text: textIn(content), image: imageIn(content) };
  const calls = (message['tool_calls'] as ChatCall[] | undefined)?.map(({ id, function: called }) => ({
    id,
    ...called,
  }));
  return { by: role, text: textIn(content) || undefined, calls };
}

/** Images of results are in a user message after all results, each after its call's ID. */
function withReturnedImages(turns: readonly ReadTurn[]): ReadTurn[] {
  return turns.flatMap((turn, index) => {
    const [, id] = /^Image returned by tool call (\S+):$/.exec(turn.text ?? '') ?? [];
    if (turn.by === 'user' && id !== undefined) return [];
    const next = turns.slice(index).find(({ text }) => text === `Image returned by tool call ${String(turn.id)}:`);
    return turn.by === 'tool' && next ? [{ ...turn, image: next.image }] : [turn];
  });
}

type Content =
  string | null | { readonly type: string; readonly text?: string; readonly image_url?: { url: string } }[];

function textIn(content: unknown): string {
  if (!Array.isArray(content)) return (content as string | null) ?? '';
  return (content as Exclude<Content, string | null>).map(({ text }) => text ?? '').join('');
}

function imageIn(content: unknown): string | undefined {
  if (!Array.isArray(content)) return undefined;
  const [image] = (content as Exclude<Content, string | null>).flatMap(({ image_url }) =>
    image_url ? [image_url.url] : [],
  );
  return image?.replace('data:image/png;base64,', '');
}
