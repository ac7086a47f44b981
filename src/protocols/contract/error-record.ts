/** Content of an upstream's error body, in any common shape. */
export interface UpstreamErrorDetail {
  readonly message?: string;
  readonly type?: string;
  readonly code?: string;
  readonly param?: string;
}

/**
 * Topics of error messages; the first match counts. Messages themselves are not stored, since vendors quote prompts.
 */
const TOPICS: readonly (readonly [pattern: RegExp, topic: string])[] = [
  [
    /context_length_exceeded|context length|prompt is too long|context window|too many (?:input )?tokens/i,
    'context length',
  ],
  [
    /content[_ ](?:policy|filter|management)|flagged|moderation|safety|guardrail|usage polic|prohibited/i,
    'refused content',
  ],
  [/max(?:imum)?_?(?:output|completion)?_?tokens|output limit/i, 'output limit'],
  [/\b(?:image|document|file|pdf|audio|media)\b/i, 'attached media'],
  [/\b(?:tool|function|schema)/i, 'tools'],
  [/\b(?:unsupported|not supported|unknown|unrecognized|not permitted|extra inputs?)\b/i, 'unsupported parameter'],
  [/\b(?:required|missing)\b/i, 'missing parameter'],
];

/** Vendors' types and codes. Others are not stored, since they could be user input. */
const KNOWN_CODES = new Set([
  'api_error',
  'authentication_error',
  'billing_error',
  'content_filter',
  'content_policy_violation',
  'context_length_exceeded',
  'cyber_policy',
  'image_too_large',
  'insufficient_quota',
  'invalid_api_key',
  'invalid_base64_image',
  'invalid_encrypted_content',
  'invalid_image',
  'invalid_image_url',
  'invalid_prompt',
  'invalid_request',
  'invalid_request_error',
  'invalid_type',
  'invalid_value',
  'missing_required_parameter',
  'model_not_found',
  'not_found_error',
  'overloaded_error',
  'permission_error',
  'previous_response_not_found',
  'rate_limit_error',
  'rate_limit_exceeded',
  'request_too_large',
  'server_error',
  'server_is_overloaded',
  'string_above_max_length',
  'timeout_error',
  'unknown_parameter',
  'unsupported_parameter',
  'unsupported_value',
]);

/** Members allowed in a stored path; it ends before the first other name, which could be user input. */
const KNOWN_MEMBERS = new Set(
  (
    'arguments budget_tokens cache_control content contents context_management data description effort file_data ' +
    'file_id file_url format frequency_penalty function generation_config image_url include input input_schema ' +
    'instructions json_schema logit_bias logprobs max_completion_tokens max_output_tokens max_tokens media_type ' +
    'messages metadata model n name parallel_tool_calls parameters presence_penalty previous_response_id prompt ' +
    'reasoning reasoning_effort response_format role schema seed service_tier source stop stop_sequences store stream ' +
    'stream_options summary system temperature text thinking tool_choice tools top_k top_logprobs top_p truncation ' +
    'type url user verbosity'
  ).split(' '),
);

/**
 * The stored form of an upstream's error: its status and known vendor vocabulary. `The upstream rejected the request:
 * status 400, invalid_request_error, parameter messages.0.content, about tools.`
 */
export function errorRecord(
  what: string,
  status: number,
  { type, code, param, message = '' }: UpstreamErrorDetail,
): string {
  const codes = [type, code].filter((word): word is string => word !== undefined && KNOWN_CODES.has(word));
  const path = param === undefined ? '' : knownPath(param);
  const topic = topicOf(`${code ?? ''} ${message}`);
  const facts = [
    `status ${status}`,
    ...codes,
    ...(path === '' ? [] : [`parameter ${path}`]),
    ...(topic === undefined ? [] : [`about ${topic}`]),
  ];
  return `${what}: ${facts.join(', ')}.`;
}

const topicOf = (text: string): string | undefined => TOPICS.find(([pattern]) => pattern.test(text))?.[1];

function knownPath(param: string): string {
  const steps = param.split(/[.[\]]+/).filter((step) => step !== '');
  const end = steps.findIndex((step) => !/^\d{1,6}$/.test(step) && !KNOWN_MEMBERS.has(step));
  return steps.slice(0, end < 0 ? steps.length : end).join('.');
}
