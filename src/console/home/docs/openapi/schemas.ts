import { closed, orNull, reference, type Schema, text, usd } from './schema.js';

const count = (description?: string): Schema => orNull('integer', description);
const budgetOrNone: Schema = { oneOf: [reference('Budget'), { type: 'null' }] };
const multiplier = text('A plain decimal.');
const multipliers = closed({ service_tier: multiplier, effort: multiplier, group: multiplier }, undefined, {
  speed: multiplier,
  geo: multiplier,
});
const inputTokens: Schema = { type: 'integer', description: 'Prompt tokens, including tools.' };

/** Responses of the relay itself; those of calls are defined by the protocols. */
const RESPONSES: Readonly<Record<string, Schema>> = {
  Model: closed(
    {
      id: text('Model name for calls.'),
      object: { type: 'string', const: 'model' },
      created: { type: 'integer', description: 'Seconds since 1970.' },
      owned_by: text('The provider.'),
      type: { type: 'string', const: 'model' },
      display_name: text(),
      created_at: text('ISO 8601, UTC.'),
    },
    'Contains the fields of all protocols.',
  ),
  ModelList: closed({
    object: { type: 'string', const: 'list' },
    data: { type: 'array', items: reference('Model') },
    has_more: { type: 'boolean' },
    first_id: orNull('string'),
    last_id: orNull('string'),
  }),
  Budget: closed({
    limit_usd: usd(),
    used_usd: usd(),
    held_usd: usd('On hold for running calls.'),
    left_usd: usd('Neither used nor on hold.'),
    resets_at: text('Start of the next period, ISO 8601, UTC.'),
  }),
  Key: closed(
    {
      object: { type: 'string', const: 'key' },
      name: text(),
      group: text('Model group that calls are billed under.'),
      quota_usd: orNull('string', 'Null: no quota.'),
      used_usd: usd(),
      held_usd: usd('On hold for running calls.'),
      quota_left_usd: orNull('string'),
      budgets: closed({ daily: budgetOrNone, weekly: budgetOrNone, monthly: budgetOrNone }, 'Null: no such budget.'),
      limits: closed(
        {
          requests_per_minute: count(),
          tokens_per_minute: count('Prompt and response tokens.'),
          concurrency: count('Concurrent calls.'),
        },
        'The key’s own limits, otherwise the defaults. Null: no limit.',
      ),
      wallet: {
        oneOf: [
          closed({
            balance_usd: usd('Including holds.'),
            held_usd: usd(),
            owed_usd: usd('Calls are rejected while it is not 0.'),
          }),
          { type: 'null' },
        ],
        description: 'Null for service keys of an organization, and for members who may not see its balance.',
      },
    },
    undefined,
    { token_issuer: text('Of a JWT; absent for a key with a secret.') },
  ),
  CostLine: closed(
    {
      item: text('A token type, image_generation:CLASS, tool:NAME or request_fee.'),
      quantity: { type: 'integer' },
      price_usd: usd(),
      per: { type: 'string', enum: ['million_tokens', 'use'] },
    },
    undefined,
    {
      pass: { type: 'integer', description: 'Number of the additional pass, starting at 1; absent for the main pass.' },
      model: text('Model of the pass.'),
    },
  ),
  Generation: closed(
    {
      object: { type: 'string', const: 'generation' },
      id: text('The request ID: req_…'),
      created_at: text('ISO 8601, UTC.'),
      model: text(),
      group: text(),
      protocol: text('Protocol of the client.'),
      stream: { type: 'boolean' },
      transport: {
        type: ['string', 'null'],
        enum: ['http', 'websocket', null],
        description: 'Transport between client and relay; null if not recorded.',
      },
      effort: orNull('string'),
      service_tier: orNull('string'),
      status: { type: 'string', enum: ['open', 'succeeded', 'failed', 'cancelled', 'refused', 'interrupted'] },
      error_reason: orNull('string'),
      prompt_tokens: count('All input, including cached tokens.'),
      cached_tokens: count(),
      cache_write_tokens: count(),
      completion_tokens: count('All output, including reasoning.'),
      reasoning_tokens: count(),
      cost_usd: orNull('string', 'Amount charged.'),
      uncollected_usd: orNull('string', 'Amount that wallet, key or budget could not cover.'),
      held_usd: orNull('string'),
      billing_basis: {
        type: ['string', 'null'],
        enum: ['reported', 'estimated', 'corrected', 'partial', 'free', null],
      },
      lines: { type: 'array', items: reference('CostLine') },
      multipliers: { oneOf: [multipliers, { type: 'null' }] },
      first_token_ms: count(),
      duration_ms: count(),
      attempts: count('Upstream attempts.'),
      upstream_report: {
        type: ['object', 'null'],
        description: 'Usage reported by the upstream if it was corrected, with the reasons.',
        additionalProperties: true,
      },
    },
    'A call of the account. Unknown values are null.',
    {
      model_multipliers: {
        type: 'object',
        description: 'Multipliers of other models used in additional passes.',
        additionalProperties: multipliers,
      },
    },
  ),
  MessagesInputTokens: {
    type: 'object',
    properties: { input_tokens: inputTokens },
    required: ['input_tokens'],
    additionalProperties: true,
  },
  ResponsesInputTokens: {
    type: 'object',
    properties: { object: { type: 'string', const: 'response.input_tokens' }, input_tokens: inputTokens },
    required: ['object', 'input_tokens'],
    additionalProperties: true,
  },
  GeminiTokens: {
    type: 'object',
    properties: { totalTokens: inputTokens },
    required: ['totalTokens'],
    additionalProperties: true,
  },
  GeminiModel: closed({
    name: text('models/ and the model name for calls.'),
    baseModelId: text(),
    version: text(),
    displayName: text(),
    inputTokenLimit: { type: 'integer' },
    outputTokenLimit: { type: 'integer' },
    supportedGenerationMethods: { type: 'array', items: { type: 'string' } },
  }),
  GeminiModelList: closed({ models: { type: 'array', items: reference('GeminiModel') } }, undefined, {
    nextPageToken: text('Absent on the last page.'),
  }),
  GeminiError: closed({
    error: closed({
      code: { type: 'integer', description: 'The HTTP status.' },
      message: text('Cause and remedy. Ends with the request ID.'),
      status: text('Google’s name of the error: INVALID_ARGUMENT, RESOURCE_EXHAUSTED and others.'),
      details: { type: 'array', items: { type: 'object' }, description: 'The invalid field, when to retry.' },
    }),
  }),
  DeletedResponse: closed({
    id: text(),
    object: { type: 'string', const: 'response' },
    deleted: { type: 'boolean' },
  }),
  InputItems: {
    type: 'object',
    properties: {
      object: { type: 'string', const: 'list' },
      data: { type: 'array', items: { type: 'object' } },
      has_more: { type: 'boolean' },
      first_id: orNull('string'),
      last_id: orNull('string'),
    },
    required: ['object', 'data', 'has_more', 'first_id', 'last_id'],
    additionalProperties: true,
  },
  Error: closed({
    error: closed({
      message: text('Cause and remedy. Ends with the request ID.'),
      type: text(),
      param: orNull('string', 'The invalid field of the request.'),
      code: orNull('string'),
    }),
  }),
  AnyError: { type: 'object', description: 'An error in the protocol’s format.', additionalProperties: true },
  MessagesError: closed({
    type: { type: 'string', const: 'error' },
    error: {
      type: 'object',
      properties: {
        type: text(),
        message: text('Cause and remedy. Ends with the request ID.'),
        details: { type: 'object' },
      },
      required: ['type', 'message'],
      additionalProperties: false,
    },
    request_id: text(),
  }),
};

const PASSED_ON =
  'Other fields are passed through to upstreams of the same protocol and translated for others, as described in Docs.';
const modelName = text('A model name from GET /v1/models.');
const stream: Schema = { type: 'boolean', description: 'Stream the response as server-sent events.' };
const tier = text('auto, default, and other tiers that the model has prices for.');

/** Request fields that the relay interprets. */
const REQUESTS: Readonly<Record<string, Schema>> = {
  AnyRequest: {
    type: 'object',
    description: PASSED_ON,
    additionalProperties: true,
  },
  ResponsesRequest: {
    type: 'object',
    description: PASSED_ON,
    properties: {
      model: modelName,
      input: { type: ['string', 'array'], description: 'The prompt.' },
      stream,
      max_output_tokens: { type: ['integer', 'null'], description: 'Output limit in tokens.' },
      reasoning: { type: ['object', 'null'], description: '{ effort }: reasoning effort.' },
      service_tier: tier,
      previous_response_id: { type: ['string', 'null'], description: 'ID of the response to continue.' },
      store: {
        type: ['boolean', 'null'],
        description: 'Store the response so that it can be continued. Default: true.',
      },
      conversation: { type: ['string', 'object', 'null'], description: 'ID of the conversation to continue.' },
      background: { type: ['boolean', 'null'], description: 'Run without the client: poll, resume or cancel by ID.' },
      context_management: {
        type: ['array', 'null'],
        description: 'Compact the conversation from compact_threshold on.',
      },
    },
    required: ['model'],
    additionalProperties: true,
  },
  Conversation: closed({
    id: text(),
    object: { type: 'string', const: 'conversation' },
    created_at: { type: 'integer' },
    metadata: { type: 'object' },
  }),
  CompactionRequest: {
    type: 'object',
    description: PASSED_ON,
    properties: {
      model: modelName,
      input: { type: ['string', 'array'], description: 'The conversation.' },
      instructions: { type: ['string', 'null'], description: 'Instructions for the model.' },
      previous_response_id: { type: ['string', 'null'], description: 'ID of the response to compact, with its input.' },
    },
    required: ['model'],
    additionalProperties: true,
  },
  Compaction: {
    type: 'object',
    properties: {
      id: text(),
      object: { type: 'string', const: 'response.compaction' },
      created_at: { type: 'integer' },
      output: {
        type: 'array',
        items: { type: 'object' },
        description: 'User messages and a compaction item: the input to continue from.',
      },
      usage: { type: 'object' },
    },
    required: ['id', 'object', 'created_at', 'output', 'usage'],
    additionalProperties: true,
  },
  ChatCompletionsRequest: {
    type: 'object',
    description: PASSED_ON,
    properties: {
      model: modelName,
      messages: { type: 'array', items: { type: 'object' }, description: 'The prompt.' },
      stream,
      max_completion_tokens: { type: ['integer', 'null'], description: 'Output limit in tokens per choice.' },
      n: { type: ['integer', 'null'], description: 'Number of choices; each is billed.' },
      reasoning_effort: { type: ['string', 'null'], description: 'Reasoning effort.' },
      service_tier: tier,
    },
    required: ['model', 'messages'],
    additionalProperties: true,
  },
  GeminiRequest: {
    type: 'object',
    description: `${PASSED_ON} Fields may also be in snake case.`,
    properties: {
      contents: { type: 'array', items: { type: 'object' }, description: 'The prompt.' },
      generationConfig: {
        type: 'object',
        properties: {
          maxOutputTokens: { type: 'integer', description: 'Output limit in tokens per candidate.' },
          candidateCount: { type: 'integer', description: 'Number of candidates; each is billed.' },
          thinkingConfig: { type: 'object', description: '{ thinkingLevel, thinkingBudget }: reasoning effort.' },
        },
        additionalProperties: true,
      },
      serviceTier: tier,
    },
    required: ['contents'],
    additionalProperties: true,
  },
  GeminiPrompt: {
    type: 'object',
    description: 'The contents, or a whole request.',
    properties: {
      contents: { type: 'array', items: { type: 'object' }, description: 'The prompt.' },
      generateContentRequest: { type: 'object', description: 'The body of a call.' },
    },
    additionalProperties: true,
  },
  PromptRequest: {
    type: 'object',
    description: 'The body of a call; fields that add no tokens may be omitted.',
    properties: { model: modelName },
    required: ['model'],
    additionalProperties: true,
  },
  MessagesRequest: {
    type: 'object',
    description: PASSED_ON,
    properties: {
      model: modelName,
      messages: { type: 'array', items: { type: 'object' }, description: 'The prompt.' },
      max_tokens: { type: 'integer', description: 'Output limit in tokens.' },
      stream,
      thinking: { type: 'object', description: '{ budget_tokens }: reasoning budget.' },
      output_config: { type: 'object', description: '{ effort }: reasoning effort.' },
      service_tier: tier,
    },
    required: ['model', 'messages', 'max_tokens'],
    additionalProperties: true,
  },
};

export const SCHEMAS = { ...RESPONSES, ...REQUESTS };
