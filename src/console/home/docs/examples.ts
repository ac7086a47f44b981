// Request and response examples of the docs. test/e2e/docs-examples.spec.ts sends the requests, and compares the
// responses and events with what comes back.
import type { ProtocolId } from '../../../protocols/contract/index.js';

/** A request body for a model. */
export type ExampleBody = (model: string) => object;

/** One operation of the reference. */
interface Example {
  /** Absent for GET and DELETE. */
  readonly body?: ExampleBody;
  /** Abridged: a subset of the members that a response has. */
  readonly response: object;
}

const PROMPT = 'Say hello';
const TEXT = 'Hello! How can I help you?';

const chat = (extra: object): ExampleBody => {
  return (model) => ({ model, messages: [{ role: 'user', content: PROMPT }], ...extra });
};
const responses = (extra: object): ExampleBody => {
  return (model) => ({ model, input: PROMPT, ...extra });
};
const messages = (extra: object): ExampleBody => {
  return (model) => ({ model, max_tokens: 200, messages: [{ role: 'user', content: PROMPT }], ...extra });
};

const gemini = (extra: object): ExampleBody => {
  return () => ({ contents: [{ role: 'user', parts: [{ text: PROMPT }] }], ...extra });
};

const PRICED_CALL = {
  object: 'generation',
  id: 'req_019a9d3c4d5e7abc89abcdef01234567',
  model: 'gpt-5.5',
  group: 'default',
  status: 'succeeded',
  prompt_tokens: 1000,
  cached_tokens: 400,
  completion_tokens: 200,
  cost_usd: '0.00224',
  billing_basis: 'reported',
  lines: [
    { item: 'input', quantity: 600, price_usd: '1.25', per: 'million_tokens' },
    { item: 'cache_read', quantity: 400, price_usd: '0.125', per: 'million_tokens' },
    { item: 'output', quantity: 200, price_usd: '10', per: 'million_tokens' },
  ],
  multipliers: { service_tier: '1', effort: '1', group: '0.8' },
  first_token_ms: 412,
  duration_ms: 1691,
  attempts: 1,
};

const STORED_RESPONSE = {
  id: 'resp_019a9d3c4d5e7abc89abcdef01234567',
  object: 'response',
  status: 'completed',
  model: 'gpt-5.5',
  output: [
    {
      type: 'message',
      id: 'msg_019a9d3c4d5e7abc89abcdef01234567',
      status: 'completed',
      role: 'assistant',
      content: [{ type: 'output_text', text: TEXT, annotations: [] }],
    },
  ],
  usage: {
    input_tokens: 9,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: 8,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: 17,
  },
};

const LISTED_MODEL = {
  id: 'gpt-5.5',
  object: 'model',
  created: 1763424000,
  owned_by: 'openai',
  type: 'model',
  display_name: 'GPT-5.5',
  created_at: '2025-11-18T00:00:00Z',
};

const GEMINI_RESPONSE = {
  candidates: [{ content: { role: 'model', parts: [{ text: TEXT }] }, finishReason: 'STOP', index: 0 }],
  usageMetadata: { promptTokenCount: 9, candidatesTokenCount: 8, totalTokenCount: 17 },
  modelVersion: 'gemini-3-pro',
  responseId: '019a9d3c4d5e7abc89abcdef01234567',
};

const GEMINI_MODEL = {
  name: 'models/gemini-3-pro',
  displayName: 'Gemini 3 Pro',
  inputTokenLimit: 1048576,
  outputTokenLimit: 65536,
  supportedGenerationMethods: ['generateContent', 'streamGenerateContent', 'countTokens'],
};

const CONVERSATION = {
  id: 'conv_019a9d3c4d5e7abc89abcdef01234567',
  object: 'conversation',
  created_at: 1763424000,
  metadata: { project: 'website' },
};

const ITEM = { type: 'message', role: 'user', content: [{ type: 'input_text', text: PROMPT }] };

const STORED_ITEM = { ...ITEM, id: 'msg_019a9d3c4d5e7abc89abcdef01234567' };

const ITEMS = {
  object: 'list',
  data: [STORED_ITEM],
  has_more: false,
};

/** By operation ID. */
export const EXAMPLES: Readonly<Record<string, Example>> = {
  createResponse: { body: responses({}), response: STORED_RESPONSE },
  countResponsesInput: { body: responses({}), response: { object: 'response.input_tokens', input_tokens: 9 } },
  compactConversation: {
    body: responses({}),
    response: {
      id: 'resp_019a9d3c4d5e7abc89abcdef01234567',
      object: 'response.compaction',
      created_at: 1763424000,
      output: [ITEM, { type: 'compaction', id: 'cmp_019a9d3c4d5e7abc89abcdef01234567', encrypted_content: 'rly1.…' }],
      usage: { input_tokens: 24, output_tokens: 8, total_tokens: 32 },
    },
  },
  createChatCompletion: {
    body: chat({}),
    response: {
      id: 'chatcmpl-019a9d3c4d5e7abc89abcdef01234567',
      object: 'chat.completion',
      created: 1763424000,
      model: 'gpt-5.5',
      choices: [{ index: 0, message: { role: 'assistant', content: TEXT }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 9, completion_tokens: 8, total_tokens: 17 },
    },
  },
  createMessage: {
    body: messages({}),
    response: {
      id: 'msg_019a9d3c4d5e7abc89abcdef01234567',
      type: 'message',
      role: 'assistant',
      model: 'claude-sonnet-5-5',
      content: [{ type: 'text', text: TEXT }],
      stop_reason: 'end_turn',
      usage: { input_tokens: 9, output_tokens: 8 },
    },
  },
  countMessagesInput: {
    body: (model) => ({ model, messages: [{ role: 'user', content: PROMPT }] }),
    response: { input_tokens: 9 },
  },
  generateContent: { body: gemini({}), response: GEMINI_RESPONSE },
  streamGenerateContent: { body: gemini({}), response: [GEMINI_RESPONSE] },
  countGeminiTokens: { body: gemini({}), response: { totalTokens: 9 } },
  listGeminiModels: { response: { models: [GEMINI_MODEL] } },
  getGeminiModel: { response: GEMINI_MODEL },
  getResponse: { response: STORED_RESPONSE },
  deleteResponse: { response: { id: STORED_RESPONSE.id, object: 'response', deleted: true } },
  cancelResponse: {
    response: { id: STORED_RESPONSE.id, object: 'response', status: 'cancelled', model: 'gpt-5.5', output: [] },
  },
  listResponseInput: { response: { object: 'list', data: [ITEM], has_more: false } },
  createConversation: {
    body: () => ({ items: [ITEM], metadata: CONVERSATION.metadata }),
    response: CONVERSATION,
  },
  getConversation: { response: CONVERSATION },
  updateConversation: { body: () => ({ metadata: CONVERSATION.metadata }), response: CONVERSATION },
  deleteConversation: { response: { id: CONVERSATION.id, object: 'conversation.deleted', deleted: true } },
  listConversationItems: { response: ITEMS },
  addConversationItems: { body: () => ({ items: [ITEM] }), response: ITEMS },
  getConversationItem: { response: STORED_ITEM },
  deleteConversationItem: { response: CONVERSATION },
  listModels: { response: { object: 'list', data: [LISTED_MODEL], has_more: false } },
  getModel: { response: LISTED_MODEL },
  getKey: {
    response: {
      object: 'key',
      name: 'laptop',
      group: 'default',
      quota_usd: '100',
      used_usd: '12.5',
      quota_left_usd: '87.48',
      budgets: { daily: { limit_usd: '5', left_usd: '3.48', resets_at: '2026-11-23T00:00:00.000Z' } },
      limits: { requests_per_minute: 60, tokens_per_minute: null, concurrency: 4 },
      wallet: { balance_usd: '40', held_usd: '0.02', owed_usd: '0' },
    },
  },
  getGeneration: { response: PRICED_CALL },
};

/** An event of a stream. */
export interface ExampleEvent {
  readonly event?: string;
  /** Abridged JSON, or text as it is. */
  readonly data: object | string;
}

interface StreamExample {
  /** With the query, if it is not that of other calls. */
  readonly path?: string;
  readonly body: ExampleBody;
  /** In order; others come between them. */
  readonly events: readonly ExampleEvent[];
  /** The end of a complete stream. */
  readonly end: string;
}

const typed = (data: { readonly type: string; readonly [member: string]: unknown }): ExampleEvent => ({
  event: data.type,
  data,
});

export const STREAMS: Readonly<Partial<Record<ProtocolId, StreamExample>>> = {
  responses: {
    body: responses({ stream: true }),
    events: [
      typed({ type: 'response.created', response: { status: 'in_progress' } }),
      typed({ type: 'response.output_text.delta', output_index: 0, delta: 'Hello!' }),
      typed({ type: 'response.output_text.done', output_index: 0, text: TEXT }),
      typed({ type: 'response.completed', response: { status: 'completed', usage: { output_tokens: 8 } } }),
    ],
    end: 'response.completed',
  },
  'chat-completions': {
    body: chat({ stream: true, stream_options: { include_usage: true } }),
    events: [
      { data: { object: 'chat.completion.chunk', choices: [{ index: 0, delta: { role: 'assistant', content: '' } }] } },
      { data: { object: 'chat.completion.chunk', choices: [{ index: 0, delta: { content: 'Hello!' } }] } },
      { data: { object: 'chat.completion.chunk', choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] } },
      { data: { object: 'chat.completion.chunk', choices: [], usage: { prompt_tokens: 9, completion_tokens: 8 } } },
      { data: '[DONE]' },
    ],
    end: '[DONE]',
  },
  messages: {
    body: messages({ stream: true }),
    events: [
      typed({ type: 'message_start', message: { role: 'assistant', usage: { input_tokens: 9 } } }),
      typed({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
      typed({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hello!' } }),
      typed({ type: 'content_block_stop', index: 0 }),
      typed({ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 8 } }),
      typed({ type: 'message_stop' }),
    ],
    end: 'message_stop',
  },
  gemini: {
    path: '/v1beta/models/{model}:streamGenerateContent?alt=sse',
    body: gemini({}),
    events: [
      { data: { candidates: [{ content: { role: 'model', parts: [{ text: 'Hello!' }] }, index: 0 }] } },
      {
        data: {
          candidates: [{ content: { role: 'model', parts: [{ text: '' }] }, finishReason: 'STOP', index: 0 }],
          usageMetadata: { promptTokenCount: 9, candidatesTokenCount: 8, totalTokenCount: 17 },
        },
      },
    ],
    end: 'finishReason',
  },
};

interface ToolExample {
  /** Offers the tool. */
  readonly offer: ExampleBody;
  /** Calls it; abridged. */
  readonly response: object;
  /** Returns its result. */
  readonly result: ExampleBody;
  /** Asks for JSON of a schema. */
  readonly schema: ExampleBody;
}

const QUESTION = { role: 'user', content: 'What is the weather in Oslo?' };
const ARGUMENTS = { city: 'Oslo' };
const RESULT = '12 °C, rain';
const object = (name: string) => ({
  type: 'object',
  properties: { [name]: { type: 'string' } },
  required: [name],
  additionalProperties: false,
});
const WEATHER = { name: 'weather', description: 'Current weather of a city' };
const RESPONSES_TOOL = { type: 'function', ...WEATHER, parameters: object('city') };
const CHAT_TOOL = { type: 'function', function: { ...WEATHER, parameters: object('city') } };
const MESSAGES_TOOL = { ...WEATHER, input_schema: object('city') };
const GEMINI_TOOL = { functionDeclarations: [{ ...WEATHER, parametersJsonSchema: object('city') }] };
const GEMINI_CALL = {
  role: 'model',
  parts: [{ functionCall: { id: 'call_1', name: 'weather', args: ARGUMENTS } }],
};
const GEMINI_QUESTION = { role: 'user', parts: [{ text: QUESTION.content }] };
/** Of the response, and sent back with the result. */
const RESPONSES_CALL = {
  type: 'function_call',
  call_id: 'call_1',
  name: 'weather',
  arguments: JSON.stringify(ARGUMENTS),
};
const CHAT_CALL = {
  role: 'assistant',
  content: null,
  tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'weather', arguments: JSON.stringify(ARGUMENTS) } }],
};
const MESSAGES_CALL = {
  role: 'assistant',
  content: [{ type: 'tool_use', id: 'toolu_1', name: 'weather', input: ARGUMENTS }],
};
const GREETING = { name: 'greeting', strict: true, schema: object('text') };

export const TOOLS: Readonly<Partial<Record<ProtocolId, ToolExample>>> = {
  responses: {
    offer: (model) => ({ model, input: [QUESTION], tools: [RESPONSES_TOOL] }),
    response: {
      object: 'response',
      status: 'completed',
      output: [RESPONSES_CALL],
    },
    result: (model) => ({
      model,
      input: [QUESTION, RESPONSES_CALL, { type: 'function_call_output', call_id: 'call_1', output: RESULT }],
      tools: [RESPONSES_TOOL],
    }),
    schema: responses({ text: { format: { type: 'json_schema', ...GREETING } } }),
  },
  'chat-completions': {
    offer: (model) => ({ model, messages: [QUESTION], tools: [CHAT_TOOL] }),
    response: {
      object: 'chat.completion',
      choices: [{ index: 0, message: CHAT_CALL, finish_reason: 'tool_calls' }],
    },
    result: (model) => ({
      model,
      messages: [QUESTION, CHAT_CALL, { role: 'tool', tool_call_id: 'call_1', content: RESULT }],
      tools: [CHAT_TOOL],
    }),
    schema: chat({ response_format: { type: 'json_schema', json_schema: GREETING } }),
  },
  messages: {
    offer: (model) => ({ model, max_tokens: 200, messages: [QUESTION], tools: [MESSAGES_TOOL] }),
    response: { type: 'message', ...MESSAGES_CALL, stop_reason: 'tool_use' },
    result: (model) => ({
      model,
      max_tokens: 200,
      messages: [
        QUESTION,
        MESSAGES_CALL,
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: RESULT }] },
      ],
      tools: [MESSAGES_TOOL],
    }),
    schema: messages({ output_config: { format: { type: 'json_schema', schema: object('text') } } }),
  },
  gemini: {
    offer: () => ({ contents: [GEMINI_QUESTION], tools: [GEMINI_TOOL] }),
    response: { candidates: [{ content: GEMINI_CALL, finishReason: 'STOP', index: 0 }] },
    result: () => ({
      contents: [
        GEMINI_QUESTION,
        GEMINI_CALL,
        {
          role: 'user',
          parts: [{ functionResponse: { id: 'call_1', name: 'weather', response: { output: RESULT } } }],
        },
      ],
      tools: [GEMINI_TOOL],
    }),
    schema: gemini({
      generationConfig: { responseMimeType: 'application/json', responseJsonSchema: object('text') },
    }),
  },
};
