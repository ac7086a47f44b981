import { reference, type Schema } from './schema.js';

export interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required: boolean;
  readonly description: string;
  readonly schema: Schema;
}

interface Answer {
  readonly description: string;
  readonly headers?: Readonly<Record<string, { readonly description: string; readonly schema: Schema }>>;
  readonly content: Readonly<Record<string, { readonly schema: Schema }>>;
}

export interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: {
    readonly required: true;
    readonly content: Readonly<Record<string, { readonly schema: Schema }>>;
  };
  readonly responses: Readonly<Record<string, Answer>>;
}

type Method = 'get' | 'post';
export type Paths = Readonly<Record<string, Readonly<Partial<Record<Method, Operation>>>>>;

const json = (schema: Schema) => ({ 'application/json': { schema } });
const REQUEST_ID = { 'x-request-id': { description: 'The request ID: req_…', schema: { type: 'string' } } } as const;
const ok = (description: string, schema: Schema): Answer => ({
  description,
  headers: REQUEST_ID,
  content: json(schema),
});

const wrong = (description: string, error = 'Error'): Answer => ({ description, content: json(reference(error)) });

/** Errors that every call knows, in the shape of its dialect; `quota`: the status of one that nobody can pay for. */
const refusals = (error: string, quota: string, overloaded: string): Readonly<Record<string, Answer>> => ({
  400: wrong('The request is not valid; the message names the member at fault.', error),
  401: wrong('Invalid token: the key is missing, unknown, disabled, deleted or expired.', error),
  [quota]: wrong('insufficient quota: wallet, key or budget cannot pay for the call.', error),
  404: wrong('This key has no such model.', error),
  413: wrong('The body is too large.', error),
  [overloaded]: wrong('No channel can answer at present; retry-after says when to try again.', error),
});

const idempotency: Parameter = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description: 'Sent again while the call runs, it gets the answer of that call: one call, one charge.',
  schema: { type: 'string' },
};

const call = (
  [operationId, summary, request]: readonly [string, string, string],
  refused: Readonly<Record<string, Answer>>,
  parameters: readonly Parameter[] = [],
): Operation => ({
  operationId,
  summary,
  parameters: [...parameters, idempotency],
  requestBody: { required: true, content: json(reference(request)) },
  responses: {
    200: {
      description: 'The answer of the upstream, unchanged: JSON, or events with stream.',
      headers: REQUEST_ID,
      content: { ...json({ type: 'object' }), 'text/event-stream': { schema: { type: 'string' } } },
    },
    ...refused,
  },
});

const version: Parameter = {
  name: 'anthropic-version',
  in: 'header',
  required: false,
  description: 'As Anthropic’s clients send it.',
  schema: { type: 'string' },
};

const pathId = (description: string): Parameter => ({
  name: 'id',
  in: 'path',
  required: true,
  description,
  schema: { type: 'string' },
});

const paging: readonly Parameter[] = [
  ['limit', 'At most so many models, up to 1,000; all without it, or 20 with anthropic-version.', 'integer'],
  ['after_id', 'Only models behind this one.', 'string'],
  ['before_id', 'Only models before this one.', 'string'],
].map(([name = '', description = '', type = '']) => ({
  name,
  in: 'query',
  required: false,
  description,
  schema: { type },
}));

const OPENAI = refusals('Error', '429', '503');

/** Everything that a program can ask for with a key. */
export const PATHS: Paths = {
  '/v1/responses': {
    post: call(['createResponse', 'A call in OpenAI’s Responses', 'ResponsesRequest'], OPENAI),
  },
  '/v1/chat/completions': {
    post: call(['createChatCompletion', 'A call in OpenAI’s Chat Completions', 'ChatCompletionsRequest'], OPENAI),
  },
  '/v1/messages': {
    post: call(
      ['createMessage', 'A call in Anthropic’s Messages', 'MessagesRequest'],
      refusals('MessagesError', '402', '529'),
      [version],
    ),
  },
  '/v1/models': {
    get: {
      operationId: 'listModels',
      summary: 'The models that this key can call',
      parameters: [...paging],
      responses: { 200: ok('Newest first.', reference('ModelList')), 401: wrong('Invalid token.') },
    },
  },
  '/v1/models/{id}': {
    get: {
      operationId: 'getModel',
      summary: 'One of them',
      parameters: [pathId('Its name, which may hold slashes.')],
      responses: {
        200: ok('The model.', reference('Model')),
        401: wrong('Invalid token.'),
        404: wrong('This key has no such model.'),
      },
    },
  },
  '/v1/key': {
    get: {
      operationId: 'getKey',
      summary: 'What this key has used and left, and the wallet behind it',
      responses: { 200: ok('The key that asked.', reference('Key')), 401: wrong('Invalid token.') },
    },
  },
  '/v1/generations/{id}': {
    get: {
      operationId: 'getGeneration',
      summary: 'What became of a call of this account, and how its cost came about',
      parameters: [pathId('The x-request-id of its answer. Any key of the account may ask.')],
      responses: {
        200: ok('The call, from its admission on.', reference('Generation')),
        401: wrong('Invalid token.'),
        404: wrong('This account has no such call.'),
      },
    },
  },
};
