import { IsIn, IsNotEmpty, IsString, ValidateBy } from 'class-validator';
import { isJsonObject, type JsonObject } from '../../platform/shared/index.js';
import { pathForModel, type ProtocolId } from '../../protocols/contract/index.js';
import { countOf, IsCount, Trimmed } from '../web/index.js';

const MIN_OUTPUT = 16;
const MAX_OUTPUT = 1_000_000;

/** JSON that passes a check, or nothing. */
const IsJson = (message: string, check: (value: unknown) => boolean): PropertyDecorator =>
  ValidateBy(
    { name: 'isJson', validator: { validate: (text: unknown) => text === '' || check(jsonIn(text)) } },
    { message },
  );

const jsonIn = (text: unknown): unknown => {
  try {
    return typeof text === 'string' ? JSON.parse(text) : undefined;
  } catch {
    return undefined;
  }
};

interface FunctionTool {
  readonly name: string;
  readonly description?: string;
  /** JSON schema of the arguments. */
  readonly parameters?: JsonObject;
}

const isTool = (value: unknown): boolean => isJsonObject(value) && typeof value['name'] === 'string';

/** An earlier message of the conversation. */
interface ChatTurn {
  readonly role: 'user' | 'assistant';
  readonly content: string;
}

const isTurn = (value: unknown): value is ChatTurn =>
  isJsonObject(value) &&
  (value['role'] === 'user' || value['role'] === 'assistant') &&
  typeof value['content'] === 'string';

const areTurns = (value: unknown): value is readonly ChatTurn[] => Array.isArray(value) && value.every(isTurn);

/** Earlier messages that a form carries; none if they are invalid. */
export function turnsIn(text: unknown): readonly ChatTurn[] {
  const turns = jsonIn(text);
  return areTurns(turns) ? turns : [];
}

export const PLAYGROUND_PROTOCOLS: readonly ProtocolId[] = ['responses', 'chat-completions', 'messages', 'gemini'];

/** A request, as typed. */
export class PlaygroundForm {
  /** ID of one of the user's keys. */
  @IsNotEmpty({ message: 'Choose an API key.' })
  readonly key: string = '';

  @IsNotEmpty({ message: 'Choose a model.' })
  readonly model: string = '';

  @IsIn(PLAYGROUND_PROTOCOLS, { message: 'Choose a protocol.' })
  readonly protocol: ProtocolId = 'responses';

  @IsString({ message: 'Enter text.' })
  readonly instructions: string = '';

  /** Earlier messages, which only the page keeps: a JSON list of `ChatTurn`. */
  @IsJson('Start a new conversation: the earlier messages are invalid.', areTurns)
  readonly turns: string = '';

  /** Required of a call, but not of an estimate. */
  @IsString({ message: 'Enter text.' })
  readonly message: string = '';

  @IsCount({
    message: `Enter a whole number of tokens from ${MIN_OUTPUT} to ${MAX_OUTPUT.toLocaleString('en')}.`,
    min: MIN_OUTPUT,
    max: MAX_OUTPUT,
  })
  readonly limit: string = '';

  @Trimmed()
  @IsJson(
    'Enter a JSON list of functions, each with a name.',
    (value) => Array.isArray(value) && value.length > 0 && value.every(isTool),
  )
  readonly tools: string = '';

  @Trimmed()
  @IsJson('Enter a JSON schema, which is an object.', isJsonObject)
  readonly schema: string = '';
}

const DEFAULT_OUTPUT = 1000;
export const DEFAULTS = { protocol: 'responses', limit: DEFAULT_OUTPUT.toLocaleString('en') } as const;

interface RequestParts {
  readonly model: string;
  readonly instructions: string;
  readonly turns: readonly ChatTurn[];
  readonly message: string;
  readonly limit: number;
  readonly tools: readonly FunctionTool[];
  readonly schema: JsonObject | undefined;
}

const conversation = ({ turns, message }: RequestParts): JsonObject[] => [
  ...turns.map(({ role, content }) => ({ role, content })),
  { role: 'user', content: message },
];

/** Bodies by protocol, without what concerns streaming and storage. */
const BODIES: Readonly<Record<string, (parts: RequestParts) => JsonObject>> = {
  responses: (parts) => ({
    model: parts.model,
    ...(parts.instructions !== '' && { instructions: parts.instructions }),
    input: parts.turns.length === 0 ? parts.message : conversation(parts),
    max_output_tokens: parts.limit,
    ...(parts.tools.length > 0 && { tools: parts.tools.map((tool) => ({ type: 'function', ...tool })) }),
    ...(parts.schema && { text: { format: { type: 'json_schema', name: 'output', schema: parts.schema } } }),
  }),
  'chat-completions': (parts) => ({
    model: parts.model,
    messages: [
      ...(parts.instructions === '' ? [] : [{ role: 'system', content: parts.instructions }]),
      ...conversation(parts),
    ] as JsonObject[],
    max_completion_tokens: parts.limit,
    ...(parts.tools.length > 0 && { tools: parts.tools.map((tool) => ({ type: 'function', function: tool })) }),
    ...(parts.schema && {
      response_format: { type: 'json_schema', json_schema: { name: 'output', schema: parts.schema } },
    }),
  }),
  messages: (parts) => ({
    model: parts.model,
    max_tokens: parts.limit,
    ...(parts.instructions !== '' && { system: parts.instructions }),
    messages: conversation(parts),
    ...(parts.tools.length > 0 && {
      tools: parts.tools.map(({ parameters = { type: 'object' }, ...tool }) => ({ ...tool, input_schema: parameters })),
    }),
    ...(parts.schema && { output_config: { format: { type: 'json_schema', schema: parts.schema } } }),
  }),
  gemini: (parts) => ({
    ...(parts.instructions !== '' && { systemInstruction: { parts: [{ text: parts.instructions }] } }),
    contents: [...parts.turns, { role: 'user', content: parts.message }].map(({ role, content }) => ({
      role: role === 'user' ? 'user' : 'model',
      parts: [{ text: content }],
    })),
    ...(parts.tools.length > 0 && {
      tools: [
        {
          functionDeclarations: parts.tools.map(({ parameters, ...tool }) => ({
            ...tool,
            ...(parameters && { parametersJsonSchema: parameters }),
          })),
        },
      ],
    }),
    generationConfig: {
      maxOutputTokens: parts.limit,
      ...(parts.schema && { responseMimeType: 'application/json', responseJsonSchema: parts.schema }),
    },
  }),
};

const PATHS: Readonly<Record<string, string>> = {
  responses: '/v1/responses',
  'chat-completions': '/v1/chat/completions',
  messages: '/v1/messages',
  gemini: '/v1beta/models/{model}:generateContent',
};

/** Path and query of a call. The path says whether it is streamed if the body does not. */
export function addressOf(
  { protocol, model }: PlaygroundForm,
  isStream: boolean,
): { readonly path: string; readonly query: string } {
  const path = pathForModel(PATHS[protocol] ?? '', model);
  if (protocol !== 'gemini' || !isStream) return { path, query: '' };
  return { path: path.replace(/:generateContent$/, ':streamGenerateContent'), query: 'alt=sse' };
}

/** The body of a valid form. @throws RangeError for another protocol than the form accepts */
export function bodyOf(form: PlaygroundForm): JsonObject {
  const body = BODIES[form.protocol];
  if (body === undefined) throw new RangeError(`The playground has no requests in ${form.protocol}.`);
  const { model, instructions, turns, message, limit, tools, schema } = form;
  return body({
    model,
    instructions,
    turns: turnsIn(turns),
    message,
    limit: countOf(limit) ?? DEFAULT_OUTPUT,
    tools: tools === '' ? [] : (JSON.parse(tools) as FunctionTool[]),
    schema: schema === '' ? undefined : (JSON.parse(schema) as JsonObject),
  });
}

/** The body as it is sent: not to be stored by an upstream, and streamed with usage. */
export const sentBody = (form: PlaygroundForm, isStream: boolean): string =>
  JSON.stringify({
    ...bodyOf(form),
    ...(form.protocol === 'responses' && { store: false }),
    ...(isStream && form.protocol !== 'gemini' && { stream: true }),
    ...(isStream && form.protocol === 'chat-completions' && { stream_options: { include_usage: true } }),
  });

/** Text and function calls of a complete response. */
export function textOf(response: unknown): string {
  if (!isJsonObject(response)) return '';
  const { choices, output, content, candidates } = response;
  const parts = [choices, output, content, candidates].find((value) => Array.isArray(value)) as unknown[] | undefined;
  return (parts ?? []).flatMap(textsIn).join('\n');
}

function textsIn(part: unknown): string[] {
  if (!isJsonObject(part)) return [];
  const { message, content, text, name, input, tool_calls: calls, parts } = part;
  const inside = [message, part['function'], part['functionCall']].find(isJsonObject);
  if (inside !== undefined) return textsIn(inside);
  if (isJsonObject(content)) return textsIn(content);
  // Gemini's reasoning looks like text.
  if (part['thought'] === true) return [];
  if (Array.isArray(parts)) return parts.flatMap(textsIn);
  const args = part['arguments'] ?? part['args'] ?? input ?? {};
  if (typeof name === 'string') return [`${name} ${typeof args === 'string' ? args : JSON.stringify(args)}`];
  const inner = Array.isArray(content) ? content.flatMap(textsIn) : [content, text].filter(isText);
  return [...inner, ...(Array.isArray(calls) ? calls.flatMap(textsIn) : [])];
}

const isText = (value: unknown): value is string => typeof value === 'string';
