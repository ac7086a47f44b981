interface DocumentedError {
  /** In the OpenAI protocols; Messages and Gemini have their own. */
  readonly code: string;
  readonly status: string;
  readonly advice: string;
}

/** Errors without a section of their own. */
export const ERRORS: readonly DocumentedError[] = [
  {
    code: 'invalid_value, unsupported_parameter',
    status: '400',
    advice:
      'The message names the field, such as input[2].content[0]. If a field cannot be translated, remove it or use a model that is not translated at this endpoint.',
  },
  {
    code: 'context_length_exceeded',
    status: '400',
    advice: 'The prompt exceeds the context window. Shorten it; /v1/messages/count_tokens returns its length.',
  },
  {
    code: 'previous_response_not_found',
    status: '400',
    advice:
      'The earlier response is not stored for this key, or has expired. Send the whole conversation with "store": false.',
  },
  {
    code: 'permission_denied',
    status: '403',
    advice:
      'The key is not allowed to use this model, or not from this IP address; the message says which. Check its allowed models and networks.',
  },
  {
    code: 'model_not_found',
    status: '404, in Messages not_found_error',
    advice:
      'The key’s group has no model with this exact name. GET /v1/models lists them. Some agents also call a small model for background work. Set it to one from the list.',
  },
  {
    code: 'rate_limit_exceeded',
    status: '429',
    advice:
      'A limit of your key, account, group or IP address was reached (see the message), or all upstreams of the model are rate-limited. Retry after the time in retry-after.',
  },
  {
    code: 'server_is_overloaded',
    status: '503, in Messages 529',
    advice: 'No upstream is available, or the service is shutting down. Clients retry automatically.',
  },
  {
    code: 'upstream_error, upstream_truncated, timeout',
    status: '502, 504, in Messages 500, 504',
    advice: 'An upstream failed and no other could take over. Retry; the call details list each attempt.',
  },
];

interface TranslationWarning {
  readonly becomes: string;
  readonly things: readonly string[];
}

/** In order of severity. */
export const WARNINGS: readonly TranslationWarning[] = [
  {
    becomes: 'Rejected with 400, naming the field',
    things: [
      'Multiple choices (n, candidateCount), audio and image output, and audio input that the upstream does not support.',
      'State stored with another vendor: conversation, prompt, files by ID, cachedContent, skills, mcp_servers.',
      'A vendor-hosted tool, if it is the only tool or the request forces its use; computer and browser tools.',
      'Images and documents by URL, if the upstream does not fetch them.',
      'temperature, top_p and top_k of Messages with anthropic-version 2026-10-21 or later; Anthropic rejects them too.',
    ],
  },
  {
    becomes: 'Removed, listed in x-relay-warnings',
    things: [
      'Other hosted tools. Web search is translated if the upstream has one.',
      'Unsupported sampling options: top_k, logit_bias, penalties, logprobs, temperature and top_p.',
      'speed, truncation, and service tiers that the upstream does not have.',
    ],
  },
  {
    becomes: 'Changed, listed in x-relay-warnings',
    things: [
      'Temperature, output limit or reasoning effort outside the upstream’s range: set to the nearest valid value.',
      'Reasoning together with a required tool, if the model does not support both: one of them is dropped.',
      'Grammars of custom tools, and JSON output that the upstream cannot enforce: added to the prompt as an instruction.',
      'Tool schemas with alternatives at the root: merged into one schema.',
      'Conversations that start with the assistant or lack a tool result: the missing message is inserted.',
      'Assistant prefill: the model may start a new message.',
    ],
  },
  {
    becomes: 'Removed silently',
    things: [
      'Fields that only concern the vendor: seed, metadata, cache hints, client_metadata, beta headers, context_management except compaction.',
      'Optional details: image detail, participant names, unsupported verbosity.',
      'Reasoning signed or encrypted by another vendor.',
      'Unknown fields.',
    ],
  },
];
