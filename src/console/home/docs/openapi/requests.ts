import { type Schema, text } from './schema.js';

const PASSED_ON =
  'Everything else goes to an upstream of the same dialect as it is; for any other it is translated, as Docs say.';
const model = text('A name of GET /v1/models.');
const stream: Schema = { type: 'boolean', description: 'The answer comes as server-sent events.' };
const tier = text('auto and default are open to all; others where the model prices them.');

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
      max_output_tokens: { type: ['integer', 'null'], description: 'At most so many tokens of answer.' },
      reasoning: { type: ['object', 'null'], description: '{ effort }: how hard it thinks.' },
      service_tier: tier,
      previous_response_id: { type: ['string', 'null'], description: 'The conversation that it continues.' },
      store: {
        type: ['boolean', 'null'],
        description: 'Whether the answer is kept, so that it can be continued: yes when left out.',
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
      max_completion_tokens: { type: ['integer', 'null'], description: 'At most so many tokens of each answer.' },
      n: { type: ['integer', 'null'], description: 'How many answers; each is paid for.' },
      reasoning_effort: { type: ['string', 'null'], description: 'How hard it thinks.' },
      service_tier: tier,
    },
    required: ['model', 'messages'],
    additionalProperties: true,
  },
  PromptRequest: {
    type: 'object',
    description: 'The body of a call; whatever does not count may be left out.',
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
      max_tokens: { type: 'integer', description: 'At most so many tokens of answer.' },
      stream,
      thinking: { type: 'object', description: '{ budget_tokens }: how long it thinks.' },
      output_config: { type: 'object', description: '{ effort }: how hard it thinks.' },
      service_tier: tier,
    },
    required: ['model', 'messages', 'max_tokens'],
    additionalProperties: true,
  },
};
