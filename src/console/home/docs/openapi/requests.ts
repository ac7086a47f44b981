import { type Schema, text } from './operation.js';

const PASSED_ON =
  'Other fields are passed through to upstreams of the same protocol and translated for others, as described in Docs.';
const model = text('A model name from GET /v1/models.');
const stream: Schema = { type: 'boolean', description: 'Stream the response as server-sent events.' };
const tier = text('auto, default, and other tiers that the model has prices for.');

/** The members of calls that are read here. */
export const REQUESTS: Readonly<Record<string, Schema>> = {
  AnyRequest: {
    type: 'object',
    description: PASSED_ON,
    additionalProperties: true,
  },
  ResponsesRequest: {
    type: 'object',
    description: PASSED_ON,
    properties: {
      model,
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
    },
    required: ['model'],
    additionalProperties: true,
  },
  ChatCompletionsRequest: {
    type: 'object',
    description: PASSED_ON,
    properties: {
      model,
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
  PromptRequest: {
    type: 'object',
    description: 'The body of a call; fields that add no tokens may be omitted.',
    properties: { model },
    required: ['model'],
    additionalProperties: true,
  },
  MessagesRequest: {
    type: 'object',
    description: PASSED_ON,
    properties: {
      model,
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
