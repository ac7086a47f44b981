/** The response object of the Responses dialect: every key in every state, because strict clients check for all of them. */

import { isJsonObject, type JsonObject } from '../../platform/shared/index.js';
import type { DemoCall } from './demo.protocol.js';

/** What differs between the states of one response. */
interface ResponseState {
  readonly status: 'in_progress' | 'completed' | 'incomplete';
  readonly output: readonly JsonObject[];
  /** Null until the response has ended. */
  readonly usage: JsonObject | null;
  /** Epoch seconds; only when completed. */
  readonly completed_at?: number | null;
  readonly incomplete_details?: JsonObject | null;
}

/** The whole object, with the client's settings echoed and defaults where it gave none. */
export function responseObject(call: DemoCall, state: ResponseState): JsonObject {
  return {
    id: `resp_${call.id}`,
    object: 'response',
    created_at: call.createdAt,
    completed_at: null,
    error: null,
    incomplete_details: null,
    model: call.question.model,
    ...echoedSettings(call.body),
    background: false,
    service_tier: 'default',
    // Nothing is ever kept here, whatever was asked for.
    store: false,
    previous_response_id: null,
    ...state,
  };
}

function echoedSettings(body: JsonObject): JsonObject {
  return {
    instructions: body['instructions'] ?? null,
    max_output_tokens: body['max_output_tokens'] ?? null,
    max_tool_calls: body['max_tool_calls'] ?? null,
    metadata: body['metadata'] ?? {},
    parallel_tool_calls: body['parallel_tool_calls'] ?? true,
    presence_penalty: body['presence_penalty'] ?? 0,
    frequency_penalty: body['frequency_penalty'] ?? 0,
    prompt_cache_key: body['prompt_cache_key'] ?? null,
    reasoning: { effort: null, summary: null, ...objectOr(body['reasoning'], {}) },
    safety_identifier: body['safety_identifier'] ?? null,
    temperature: body['temperature'] ?? 1,
    text: { format: { type: 'text' }, ...objectOr(body['text'], {}) },
    tool_choice: body['tool_choice'] ?? 'auto',
    tools: Array.isArray(body['tools']) ? body['tools'].filter(isJsonObject).map(echoTool) : [],
    top_logprobs: body['top_logprobs'] ?? 0,
    top_p: body['top_p'] ?? 1,
    truncation: body['truncation'] ?? 'disabled',
  };
}

/** Function tools are echoed with all their keys, absent ones as null; other kinds as they came. */
function echoTool(tool: JsonObject): JsonObject {
  if (tool['type'] !== 'function') return tool;
  return { description: null, parameters: null, strict: null, ...tool };
}

function objectOr(value: unknown, fallback: JsonObject): JsonObject {
  return isJsonObject(value) ? value : fallback;
}
