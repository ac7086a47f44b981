import { commonEdits, countIn, headReader, type PromptQuestion, SplicedBody } from '../contract/index.js';
import { INTERESTS, MEMBERS, MESSAGES } from './messages.head.js';
import { requestContext } from './messages.request-context.js';

/** It is asked with the body of a call, but for `max_tokens`, and answered with `{"input_tokens":N}`. */
export const MESSAGES_QUESTION: PromptQuestion = {
  protocol: MESSAGES,
  path: '/v1/messages/count_tokens',
  headReader: (request) =>
    headReader(INTERESTS, (fields) => {
      const model = fields.requireString('model', { maxLength: 256 });
      fields.requireKind('messages', 'array');
      const { size } = fields;
      const demands = MEMBERS.demandsIn(fields, request);
      return { model, stream: false, outputLimit: undefined, answers: 1, effort: undefined, demands, size, fields };
    }),
  requestFor: (call, model) => ({
    path: '/messages/count_tokens',
    ...requestContext(call),
    body: new SplicedBody(call.body, commonEdits(call, { model })),
  }),
  isAnswer: (body) => countIn(body, 'input_tokens') !== undefined,
  render: (tokens) => ({ input_tokens: tokens }),
};
