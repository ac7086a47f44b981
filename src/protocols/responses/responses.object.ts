import {
  newResponseId,
  isTreeObject,
  writeJson,
  type Call,
  type JsonTree,
  type TokenUsage,
  type TreeObject,
} from '../contract/index.js';
import { writeUsage } from './responses.usage.js';

/** What a failed response says went wrong. */
export interface ResponseError {
  readonly code: string;
  readonly message: string;
}

/** What changes of a response while it comes; what is absent is null. */
export interface ResponseState {
  readonly status: 'in_progress' | 'completed' | 'incomplete' | 'failed';
  readonly error?: ResponseError;
  readonly incompleteReason?: string | undefined;
  /** The items, each as JSON text. */
  readonly output: readonly string[];
  readonly usage?: TokenUsage | undefined;
}

/**
 * The response that every event of the lifecycle shows, with every member that clients demand. What stays the same is
 * written once.
 */
export class ResponseObject {
  /** Without the closing brace. */
  readonly #lasting: string;

  constructor(call: Call, request: TreeObject) {
    this.#lasting = writeJson(lastingMembers(call, request)).slice(0, -1);
  }

  text({ status, error, incompleteReason, output, usage }: ResponseState): string {
    const details = incompleteReason === undefined ? null : { reason: incompleteReason };
    // Nothing here has a clock: when an answer was complete is not said.
    const changing = { status, completed_at: null, error: error ?? null, incomplete_details: details };
    const counts = usage === undefined ? null : writeUsage(usage);
    return `${this.#lasting},${JSON.stringify(changing).slice(1, -1)},"output":[${output.join(',')}],"usage":${JSON.stringify(counts)}}`;
  }
}

export const responseId = (call: Call): string => newResponseId(call, 'resp_');

/** Who answers, and what the client set, as it is repeated in the answer. */
function lastingMembers(call: Call, request: TreeObject): TreeObject {
  return {
    id: responseId(call),
    object: 'response',
    created_at: Math.floor(call.createdAt / 1000),
    model: call.head.model,
    instructions: stringIn(request, 'instructions'),
    max_output_tokens: call.head.outputLimit ?? null,
    max_tool_calls: numberIn(request, 'max_tool_calls', null),
    // By now the request says itself what it once named.
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
    background: false,
    store: request['store'] !== false,
    service_tier: 'default',
    metadata: objectIn(request, 'metadata'),
    safety_identifier: stringIn(request, 'safety_identifier'),
    prompt_cache_key: stringIn(request, 'prompt_cache_key'),
  };
}

function stringIn(parent: TreeObject, name: string): string | null {
  const value = parent[name];
  return typeof value === 'string' ? value : null;
}

function numberIn(parent: TreeObject, name: string, absent: number | null): number | null {
  const value = parent[name];
  return typeof value === 'number' ? value : absent;
}

/** Without what is null in it. */
function objectIn(parent: TreeObject, name: string): TreeObject {
  const value = parent[name];
  return isTreeObject(value) ? Object.fromEntries(Object.entries(value).filter(([, member]) => member !== null)) : {};
}

function toolsIn(request: TreeObject): readonly JsonTree[] {
  const tools = request['tools'];
  return Array.isArray(tools) ? tools.map(echoed) : [];
}

/** Clients demand these members of functions. */
const echoed = (tool: JsonTree): JsonTree =>
  isTreeObject(tool) && tool['type'] === 'function'
    ? { description: null, parameters: null, strict: null, ...tool }
    : tool;
