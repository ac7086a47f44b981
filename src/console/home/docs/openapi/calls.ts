import {
  type Answer,
  header,
  INVALID_TOKEN,
  json,
  NO_MODEL,
  ok,
  type Operation,
  optional,
  type Parameter,
  type Paths,
  REQUEST_ID,
  wrong,
} from './operation.js';
import { reference } from './schema.js';

type Answers = Readonly<Record<string, Answer>>;

/** Errors that every question about a prompt knows, in the shape of its dialect. */
const refusals = (error: string): Answers => ({
  400: wrong('The request is not valid, or cannot be translated; the message names the member at fault.', error),
  401: wrong(INVALID_TOKEN, error),
  403: wrong('permission_denied: the key may not use this model, or not from this address.', error),
  404: wrong(NO_MODEL, error),
  413: wrong('The body is too large.', error),
  415: wrong('The body is in an encoding that is not known here.', error),
});

const UNPAID = 'insufficient quota: wallet, key or budget cannot pay for the call.';
const LIMITED =
  'rate_limit_exceeded: more calls or tokens in a minute, or more calls at the same time, than a limit lets pass; retry-after says when to try again.';

/** Of calls too; `quota`: the status of one that nobody can pay for. */
const callRefusals = (error: string, quota: string, overloaded: string): Answers => ({
  ...refusals(error),
  429: wrong(LIMITED, error),
  [quota]: wrong(quota === '429' ? `${UNPAID} Or ${LIMITED}` : UNPAID, error),
  [overloaded]: wrong('No channel can answer at present; retry-after says when to try again.', error),
});

const ENCODING = optional('header', 'Content-Encoding', 'How the body is packed: gzip, deflate, br or zstd.');
const IDEMPOTENCY = optional(
  'header',
  'Idempotency-Key',
  'Sent again while the call runs, it gets the answer of that call: one call, one charge.',
);
const VERSION = optional('header', 'anthropic-version', 'As Anthropic’s clients send it.');

const CALL_HEADERS = {
  ...REQUEST_ID,
  'x-relay-warnings': header(
    'What was lost on the way to an upstream of another dialect, and of a whole answer on the way back: code:member, with commas.',
  ),
  'x-relay-output-limit': header('The money was not enough for the output asked for: so many tokens were allowed.'),
  'x-relay-shared-with': header('The answer is that of this call, which ran already and is charged for it.'),
};

const call = (
  [operationId, summary, request]: readonly [string, string, string],
  refused: Answers,
  parameters: readonly Parameter[] = [],
): Operation => ({
  operationId,
  summary,
  parameters: [...parameters, IDEMPOTENCY, ENCODING],
  requestBody: { required: true, content: json(reference(request)) },
  responses: {
    200: {
      description: 'The answer, as the upstream gave it or translated: JSON, or events with stream.',
      headers: CALL_HEADERS,
      content: { ...json({ type: 'object' }), 'text/event-stream': { schema: { type: 'string' } } },
    },
    ...refused,
  },
});

const count = (operationId: string, error: string, answer: string): Operation => ({
  operationId,
  summary: 'How many tokens a prompt has; costs nothing',
  parameters: [ENCODING],
  requestBody: { required: true, content: json(reference('PromptRequest')) },
  responses: {
    200: ok('As the upstream counts it, else as it is counted here.', reference(answer)),
    ...refusals(error),
  },
});

/** A call in a dialect that nothing more is said of here: what its members mean its vendor says. */
export const callIn = (dialect: string): Operation =>
  call([`createCallIn${dialect.replaceAll(/\W/g, '')}`, `A call in ${dialect}`, 'AnyRequest'], anyRefusals());

const anyRefusals = (): Answers => callRefusals('AnyError', '402', '503');

const OPENAI = callRefusals('Error', '429', '503');

/** Calls, and what can be asked about one before it is made. */
export const CALLS: Paths = {
  '/v1/responses': { post: call(['createResponse', 'A call in OpenAI’s Responses', 'ResponsesRequest'], OPENAI) },
  '/v1/responses/input_tokens': { post: count('countResponsesInput', 'Error', 'ResponsesInputTokens') },
  '/v1/chat/completions': {
    post: call(['createChatCompletion', 'A call in OpenAI’s Chat Completions', 'ChatCompletionsRequest'], OPENAI),
  },
  '/v1/messages': {
    post: call(
      ['createMessage', 'A call in Anthropic’s Messages', 'MessagesRequest'],
      callRefusals('MessagesError', '402', '529'),
      [VERSION],
    ),
  },
  '/v1/messages/count_tokens': { post: count('countMessagesInput', 'MessagesError', 'MessagesInputTokens') },
};
