/** An error beside the three that have a part of the page each. */
interface DocumentedError {
  /** In the dialects of OpenAI; Messages has types of its own. */
  readonly code: string;
  readonly status: string;
  readonly advice: string;
}

export const ERRORS: readonly DocumentedError[] = [
  {
    code: 'invalid_value, unsupported_parameter',
    status: '400',
    advice:
      'The message names the member, such as input[2].content[0]. One that cannot be translated: leave it out, or call a model that answers this endpoint without translation.',
  },
  {
    code: 'context_length_exceeded',
    status: '400',
    advice: 'The prompt is longer than the model reads. Shorten it, or ask how long it is: /v1/messages/count_tokens.',
  },
  {
    code: 'previous_response_not_found',
    status: '400',
    advice:
      'The earlier answer is not kept for this key, or no more. Send the conversation itself, with "store": false.',
  },
  {
    code: 'permission_denied',
    status: '403',
    advice:
      'The key may not use this model, or not from this address: the message says which. Its page has the models and the networks that it is for.',
  },
  {
    code: 'model_not_found',
    status: '404, in Messages not_found_error',
    advice:
      'No model of this name in the key’s group. Names must be exact: GET /v1/models lists them. Agents ask for models of their own besides, for small jobs: give them a name from here.',
  },
  {
    code: 'rate_limit_exceeded',
    status: '429',
    advice:
      'A limit of your key, your account, its group or your address is reached, which the message names; or every upstream of the model wants fewer calls. Clients wait as long as retry-after says, and pass then.',
  },
  {
    code: 'server_is_overloaded',
    status: '503, in Messages 529',
    advice: 'No upstream can answer at present, or the service is stopping. Clients try again by themselves.',
  },
  {
    code: 'upstream_error, upstream_truncated, timeout',
    status: '502, 504, in Messages 500, 504',
    advice: 'An upstream failed, and no other one could take over. Try again; the page of the call shows each attempt.',
  },
];
