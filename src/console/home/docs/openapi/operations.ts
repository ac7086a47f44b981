import {
  ADDRESS_NOT_ALLOWED,
  failed,
  header,
  INVALID_TOKEN,
  json,
  NO_MODEL,
  ok,
  type Operation,
  type OperationResponse,
  optional,
  type Parameter,
  pathId,
  pathParameter,
  type Paths,
  reference,
  REQUEST_ID,
} from './schema.js';

type Responses = Readonly<Record<string, OperationResponse>>;

/** Errors of calls and token counts, in the format of the protocol. */
const refusals = (error: string): Responses => ({
  400: failed('The request is invalid or cannot be translated; the message names the field.', error),
  401: failed(INVALID_TOKEN, error),
  403: failed('permission_denied: the key is not allowed to use this model, or not from this IP address.', error),
  404: failed(NO_MODEL, error),
  413: failed('The body is too large.', error),
  415: failed('Unsupported content encoding.', error),
});

const UNPAID = 'insufficient quota: wallet, key or budget cannot cover the call.';
const LIMITED =
  'rate_limit_exceeded: a limit of calls per minute, tokens per minute or concurrent calls was reached; see retry-after.';

/** @param quota status of `insufficient quota` */
const callRefusals = (error: string, quota: string, overloaded: string): Responses => ({
  ...refusals(error),
  429: failed(LIMITED, error),
  [quota]: failed(quota === '429' ? `${UNPAID} Or ${LIMITED}` : UNPAID, error),
  [overloaded]: failed('No channel is available; see retry-after.', error),
});

const ENCODING = optional('header', 'Content-Encoding', 'Compression of the body: gzip, deflate, br or zstd.');
const IDEMPOTENCY = optional(
  'header',
  'Idempotency-Key',
  'A repeated request with the same key shares the response of the running call and is not charged again.',
);
const VERSION = optional('header', 'anthropic-version', 'API version, as in the Anthropic API.');

const CALL_HEADERS = {
  ...REQUEST_ID,
  'x-relay-warnings': header('Translation warnings as code:place, separated by commas.'),
  'x-relay-output-limit': header('Output limit in tokens, if it was lowered to fit the available credit.'),
  'x-relay-shared-with': header('ID of the running call whose response is shared.'),
};

const call = (
  [operationId, summary, request]: readonly [string, string, string],
  refused: Responses,
  parameters: readonly Parameter[] = [],
): Operation => ({
  operationId,
  summary,
  parameters: [...parameters, IDEMPOTENCY, ENCODING],
  requestBody: { required: true, content: json(reference(request)) },
  responses: {
    200: {
      description: 'The response: JSON, or server-sent events with stream.',
      headers: CALL_HEADERS,
      content: { ...json({ type: 'object' }), 'text/event-stream': { schema: { type: 'string' } } },
    },
    ...refused,
  },
});

const count = (
  operationId: string,
  error: string,
  response: string,
  { request = 'PromptRequest', parameters = [] }: { readonly request?: string; readonly parameters?: Parameter[] } = {},
): Operation => ({
  operationId,
  summary: 'Count prompt tokens; free of charge',
  parameters: [...parameters, ENCODING],
  requestBody: { required: true, content: json(reference(request)) },
  responses: {
    200: ok('Counted by the upstream if possible, otherwise here.', reference(response)),
    ...refusals(error),
  },
});

const MODEL = pathParameter('model', 'A model name from GET /v1/models; slashes percent-encoded.');
const GEMINI_REFUSALS = callRefusals('GeminiError', '402', '503');
const SSE = optional('query', 'alt', 'sse: server-sent events. Default: one JSON array.');

/** A call in a protocol that is documented by its vendor only. */
const callIn = (protocol: string): Operation =>
  call(
    [`createCallIn${protocol.replaceAll(/\W/g, '')}`, `A call in ${protocol}`, 'AnyRequest'],
    callRefusals('AnyError', '402', '503'),
  );

const OPENAI = callRefusals('Error', '429', '503');

const CALLS: Paths = {
  '/v1/responses': {
    post: call(['createResponse', 'Create a response (OpenAI Responses)', 'ResponsesRequest'], OPENAI),
    get: {
      operationId: 'connectResponses',
      summary: 'Create responses over WebSocket',
      parameters: [optional('header', 'Upgrade', 'Must be websocket.')],
      responses: {
        101: { description: 'Each response.create message is a call; the events of its response are messages.' },
        400: failed('The handshake is invalid, or the query contains an API key.'),
        401: failed(INVALID_TOKEN),
        403: failed(ADDRESS_NOT_ALLOWED),
        405: failed('Not a WebSocket handshake.'),
        426: failed('A proxy removed the Upgrade header, or the version is not 13. Use POST.'),
        503: failed('The server is overloaded or shutting down; see retry-after.'),
      },
    },
  },
  '/v1/responses/compact': {
    post: {
      operationId: 'compactConversation',
      summary: 'Compact a conversation (OpenAI Responses)',
      parameters: [IDEMPOTENCY, ENCODING],
      requestBody: { required: true, content: json(reference('CompactionRequest')) },
      responses: {
        200: { ...ok('The compacted conversation.', reference('Compaction')), headers: CALL_HEADERS },
        ...OPENAI,
      },
    },
  },
  '/v1/responses/input_tokens': { post: count('countResponsesInput', 'Error', 'ResponsesInputTokens') },
  '/v1/chat/completions': {
    post: call(
      ['createChatCompletion', 'Create a chat completion (OpenAI Chat Completions)', 'ChatCompletionsRequest'],
      OPENAI,
    ),
  },
  '/v1/messages': {
    post: call(
      ['createMessage', 'Create a message (Anthropic Messages)', 'MessagesRequest'],
      callRefusals('MessagesError', '402', '529'),
      [VERSION],
    ),
  },
  '/v1/messages/count_tokens': { post: count('countMessagesInput', 'MessagesError', 'MessagesInputTokens') },
  '/v1beta/models/{model}:generateContent': {
    post: call(['generateContent', 'Generate content (Google Gemini)', 'GeminiRequest'], GEMINI_REFUSALS, [MODEL]),
  },
  '/v1beta/models/{model}:streamGenerateContent': {
    post: call(
      ['streamGenerateContent', 'Generate content as a stream (Google Gemini)', 'GeminiRequest'],
      GEMINI_REFUSALS,
      [MODEL, SSE],
    ),
  },
  '/v1beta/models/{model}:countTokens': {
    post: count('countGeminiTokens', 'GeminiError', 'GeminiTokens', { request: 'GeminiPrompt', parameters: [MODEL] }),
  },
};

const keyErrors = (error: string) => ({ 401: failed(INVALID_TOKEN, error), 403: failed(ADDRESS_NOT_ALLOWED, error) });
const KEY_ERRORS = keyErrors('Error');

const ID = pathId('ID of a response created with this key: resp_…');

const refused = {
  ...KEY_ERRORS,
  404: failed('Not stored for this key: expired, deleted, or never stored.'),
};

const PAGING = [
  optional('query', 'limit', 'Page size, max 100. Default: 20.', 'integer'),
  optional('query', 'order', 'asc or desc. Default: desc, newest first.'),
  optional('query', 'after', 'Return items after this one.'),
];

const STORED_RESPONSES: Paths = {
  '/v1/responses/{id}': {
    get: {
      operationId: 'getResponse',
      summary: 'Get a stored response',
      parameters: [
        ID,
        optional('query', 'stream', 'true: the events of a background response.', 'boolean'),
        optional('query', 'starting_after', 'Only events after this sequence number.', 'integer'),
      ],
      responses: { 200: ok('The response, as it is now.', { type: 'object' }), ...refused },
    },
    delete: {
      operationId: 'deleteResponse',
      summary: 'Delete a stored response',
      parameters: [ID],
      responses: { 200: ok('Deleted.', reference('DeletedResponse')), ...refused },
    },
  },
  '/v1/responses/{id}/cancel': {
    post: {
      operationId: 'cancelResponse',
      summary: 'Cancel a background response',
      parameters: [ID],
      responses: { 200: ok('The response, as it ended.', { type: 'object' }), ...refused },
    },
  },
  '/v1/responses/{id}/input_items': {
    get: {
      operationId: 'listResponseInput',
      summary: 'List the input items of a stored response',
      parameters: [ID, ...PAGING],
      responses: { 200: ok('A page of items.', reference('InputItems')), ...refused },
    },
  },
};

const CONVERSATION_ID = pathId('ID of a conversation created with this key: conv_…');
const ITEM_ID = { ...pathId('ID of an item.'), name: 'itemId' };
const conversation = ok('The conversation.', reference('Conversation'));
const withBody = (description: string): Pick<Operation, 'requestBody'> => ({
  requestBody: { required: true, content: json({ type: 'object', description, additionalProperties: true }) },
});

const CONVERSATIONS: Paths = {
  '/v1/conversations': {
    post: {
      operationId: 'createConversation',
      summary: 'Create a conversation',
      parameters: [ENCODING],
      ...withBody('items: up to 20. metadata: up to 16 strings.'),
      responses: { 200: conversation, ...KEY_ERRORS },
    },
  },
  '/v1/conversations/{id}': {
    get: {
      operationId: 'getConversation',
      summary: 'Get a conversation',
      parameters: [CONVERSATION_ID],
      responses: { 200: conversation, ...refused },
    },
    post: {
      operationId: 'updateConversation',
      summary: 'Replace the metadata of a conversation',
      parameters: [CONVERSATION_ID, ENCODING],
      ...withBody('metadata: up to 16 strings.'),
      responses: { 200: conversation, ...refused },
    },
    delete: {
      operationId: 'deleteConversation',
      summary: 'Delete a conversation with its items',
      parameters: [CONVERSATION_ID],
      responses: { 200: ok('Deleted.', { type: 'object' }), ...refused },
    },
  },
  '/v1/conversations/{id}/items': {
    get: {
      operationId: 'listConversationItems',
      summary: 'List the items of a conversation',
      parameters: [CONVERSATION_ID, ...PAGING],
      responses: { 200: ok('A page of items.', reference('InputItems')), ...refused },
    },
    post: {
      operationId: 'addConversationItems',
      summary: 'Add items to a conversation',
      parameters: [CONVERSATION_ID, ENCODING],
      ...withBody('items: up to 20.'),
      responses: { 200: ok('The added items.', reference('InputItems')), ...refused },
    },
  },
  '/v1/conversations/{id}/items/{itemId}': {
    get: {
      operationId: 'getConversationItem',
      summary: 'Get an item of a conversation',
      parameters: [CONVERSATION_ID, ITEM_ID],
      responses: { 200: ok('The item.', { type: 'object' }), ...refused },
    },
    delete: {
      operationId: 'deleteConversationItem',
      summary: 'Delete an item of a conversation',
      parameters: [CONVERSATION_ID, ITEM_ID],
      responses: { 200: conversation, ...refused },
    },
  },
};

const PATHS: Paths = {
  ...CALLS,
  ...STORED_RESPONSES,
  ...CONVERSATIONS,
  '/v1/models': {
    get: {
      operationId: 'listModels',
      summary: 'List the models of this key',
      parameters: [
        optional('query', 'limit', 'Page size, max 1,000. Default: all, or 20 with anthropic-version.', 'integer'),
        optional('query', 'after_id', 'Return models after this one.'),
        optional('query', 'before_id', 'Return models before this one.'),
      ],
      responses: {
        200: ok('Newest first.', reference('ModelList')),
        ...KEY_ERRORS,
      },
    },
  },
  '/v1/models/{id}': {
    get: {
      operationId: 'getModel',
      summary: 'Get a model',
      parameters: [pathId('Model name; may contain slashes.')],
      responses: {
        200: ok('The model.', reference('Model')),
        ...KEY_ERRORS,
        404: failed(NO_MODEL),
      },
    },
  },
  '/v1beta/models': {
    get: {
      operationId: 'listGeminiModels',
      summary: 'List the models of this key in Google’s format',
      parameters: [
        optional('query', 'pageSize', 'Page size, max 1,000. Default: 50.', 'integer'),
        optional('query', 'pageToken', 'nextPageToken of the previous page.'),
      ],
      responses: {
        200: ok('Newest first.', reference('GeminiModelList')),
        ...keyErrors('GeminiError'),
      },
    },
  },
  '/v1beta/models/{id}': {
    get: {
      operationId: 'getGeminiModel',
      summary: 'Get a model in Google’s format',
      parameters: [pathId('Model name; may contain slashes.')],
      responses: {
        200: ok('The model.', reference('GeminiModel')),
        ...keyErrors('GeminiError'),
        404: failed(NO_MODEL, 'GeminiError'),
      },
    },
  },
  '/v1/key': {
    get: {
      operationId: 'getKey',
      summary: 'Get usage and limits of this key and its wallet',
      responses: {
        200: ok('The key of the request.', reference('Key')),
        ...KEY_ERRORS,
      },
    },
  },
  '/v1/generations/{id}': {
    get: {
      operationId: 'getGeneration',
      summary: 'Get a call of this account with its cost calculation',
      parameters: [pathId('x-request-id of the call. Any key of the account may be used.')],
      responses: {
        200: ok('The call. Available as soon as it is admitted.', reference('Generation')),
        ...KEY_ERRORS,
        404: failed('Call not found.'),
      },
    },
  },
};

/** Includes a call path for every registered protocol. */
export const pathsFor = (protocols: readonly { readonly path: string; readonly fullName: string }[]): Paths => ({
  ...Object.fromEntries(protocols.map(({ path, fullName }) => [path, { post: callIn(fullName) }])),
  ...PATHS,
});
