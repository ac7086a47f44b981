import { type AppError, type ErrorKind, isJsonObject, type JsonObject } from '../../platform/shared/index.js';
import {
  type Call,
  isTreeObject,
  type JsonTree,
  newResponseId,
  openAiErrorBody,
  parseData,
  sseText,
  type StreamTail,
  type TokenUsage,
  type TreeObject,
  writeJson,
} from '../contract/index.js';
import { writeUsage } from './usage.js';

interface ResponseError {
  readonly code: string;
  readonly message: string;
}

/** Changing members; absent ones are null. */
export interface ResponseState {
  readonly status: 'in_progress' | 'completed' | 'incomplete' | 'failed';
  readonly error?: ResponseError;
  readonly incompleteReason?: string | undefined;
  /** Items as JSON. */
  readonly output: readonly string[];
  readonly usage?: TokenUsage | undefined;
}

/** The response of lifecycle events, with every member that clients require. Constant members are serialized once. */
export class ResponseObject {
  /** Without the closing brace. */
  readonly #lasting: string;

  constructor(call: Call, request: TreeObject) {
    this.#lasting = writeJson(lastingMembers(call, request)).slice(0, -1);
  }

  text({ status, error, incompleteReason, output, usage }: ResponseState): string {
    const details = incompleteReason === undefined ? null : { reason: incompleteReason };
    // Without a clock, the completion time is unknown.
    const changing = { status, completed_at: null, error: error ?? null, incomplete_details: details };
    const counts = usage === undefined ? null : writeUsage(usage);
    return `${this.#lasting},${JSON.stringify(changing).slice(1, -1)},"output":[${output.join(',')}],"usage":${JSON.stringify(counts)}}`;
  }
}

export const responseId = (call: Call): string => newResponseId(call, 'resp_');

function lastingMembers(call: Call, request: TreeObject): TreeObject {
  return {
    id: responseId(call),
    object: 'response',
    created_at: Math.floor(call.createdAt / 1000),
    model: call.head.model,
    instructions: stringIn(request, 'instructions'),
    max_output_tokens: call.head.outputLimit ?? null,
    max_tool_calls: numberIn(request, 'max_tool_calls', null),
    // References in the request were replaced.
    previous_response_id: call.head.outside?.previousResponseId ?? null,
    reasoning: { effort: call.head.effort ?? null, summary: stringIn(objectIn(request, 'reasoning'), 'summary') },
    temperature: numberIn(request, 'temperature', 1),
    top_p: numberIn(request, 'top_p', 1),
    presence_penalty: numberIn(request, 'presence_penalty', 0),
    frequency_penalty: numberIn(request, 'frequency_penalty', 0),
    top_logprobs: numberIn(request, 'top_logprobs', 0),
    text: { format: { type: 'text' }, ...objectIn(request, 'text') },
    tools: toolsIn(request),
    tool_choice: request['tool_choice'] ?? 'auto',
    parallel_tool_calls: request['parallel_tool_calls'] !== false,
    truncation: stringIn(request, 'truncation') ?? 'disabled',
    background: request['background'] === true,
    store: request['store'] !== false,
    service_tier: 'default',
    metadata: objectIn(request, 'metadata'),
    ...conversationOf(request['conversation']),
    safety_identifier: stringIn(request, 'safety_identifier'),
    prompt_cache_key: stringIn(request, 'prompt_cache_key'),
  };
}

/** Only for requests with one. */
function conversationOf(conversation: JsonTree | undefined): TreeObject {
  if (typeof conversation === 'string') return { conversation: { id: conversation } };
  return isTreeObject(conversation) ? { conversation: { id: conversation['id'] } } : {};
}

function stringIn(parent: TreeObject, name: string): string | null {
  const value = parent[name];
  return typeof value === 'string' ? value : null;
}

function numberIn(parent: TreeObject, name: string, absent: number | null): number | null {
  const value = parent[name];
  return typeof value === 'number' ? value : absent;
}

/** Without null members. */
function objectIn(parent: TreeObject, name: string): TreeObject {
  const value = parent[name];
  return isTreeObject(value) ? Object.fromEntries(Object.entries(value).filter(([, member]) => member !== null)) : {};
}

function toolsIn(request: TreeObject): readonly JsonTree[] {
  const tools = request['tools'];
  return Array.isArray(tools) ? tools.map(echoed) : [];
}

/** Clients require these members of functions. */
const echoed = (tool: JsonTree): JsonTree =>
  isTreeObject(tool) && tool['type'] === 'function'
    ? { description: null, parameters: null, strict: null, ...tool }
    : tool;

/**
 * Error codes in streams. Clients act on these: all but `server_error` and `rate_limit_exceeded` end the turn, and
 * unknown ones cause a retry; `invalid_prompt` is the only one whose message is shown unchanged.
 */
const CODES: Readonly<Record<ErrorKind, string>> = {
  invalid_token: 'invalid_prompt',
  permission_denied: 'invalid_prompt',
  insufficient_quota: 'insufficient_quota',
  invalid_request: 'invalid_prompt',
  context_length_exceeded: 'context_length_exceeded',
  model_not_found: 'invalid_prompt',
  not_found: 'invalid_prompt',
  method_not_allowed: 'invalid_prompt',
  upgrade_required: 'invalid_prompt',
  conflict: 'invalid_prompt',
  request_too_large: 'invalid_prompt',
  request_timeout: 'invalid_prompt',
  unsupported_media_type: 'invalid_prompt',
  rate_limit_exceeded: 'rate_limit_exceeded',
  server_is_overloaded: 'server_is_overloaded',
  unavailable: 'server_is_overloaded',
  // An immediate retry reaches another process.
  shutting_down: 'server_error',
  upstream_error: 'server_error',
  upstream_auth: 'server_error',
  upstream_truncated: 'server_error',
  timeout: 'server_error',
  internal: 'server_error',
  context_canceled: 'server_error',
};

/**
 * The end of a failed stream: an `error` event in both known forms, flat and nested, then `response.failed`, which some
 * clients require, then the marker.
 * @param sequence number of its first event
 * @param responseOf the failed response as JSON
 */
export function failureText(
  call: Call,
  error: AppError,
  sequence: number,
  responseOf: (error: ResponseError) => string,
): string {
  const code = CODES[error.kind];
  const nested = { ...openAiErrorBody(error, call.id), code };
  const { message, param } = nested;
  const data = { type: 'error', sequence_number: sequence, code, message, param, error: nested };
  const response = responseOf({ code, message });
  return [
    sseText('error', JSON.stringify(data)),
    sseText('response.failed', `{"type":"response.failed","sequence_number":${sequence + 1},"response":${response}}`),
    sseText(undefined, '[DONE]'),
  ].join('');
}

/** Continues the sequence numbers of the upstream's events. */
export function renderFailure(call: Call, error: AppError, tail: StreamTail): Uint8Array {
  const first = tail.first === undefined ? undefined : parseData(tail.first);
  const last = tail.last === undefined ? undefined : parseData(tail.last);
  const number = last?.['sequence_number'];
  const next = typeof number === 'number' && Number.isSafeInteger(number) ? number + 1 : 0;
  const failed = { ...responseIn(first, call), status: 'failed', output: [] };
  return Buffer.from(failureText(call, error, next, (failure) => JSON.stringify({ ...failed, error: failure })));
}

/** The response as the upstream began it, completed with the members that clients require. */
function responseIn(event: JsonObject | undefined, call: Call): JsonObject {
  const begun = event?.['response'];
  const blank = JSON.parse(
    new ResponseObject(call, { store: false }).text({ status: 'failed', output: [] }),
  ) as JsonObject;
  return isJsonObject(begun) && typeof begun['id'] === 'string' ? { ...blank, ...begun } : blank;
}
