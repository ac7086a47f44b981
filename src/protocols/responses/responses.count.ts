import { commonEdits, countIn, type PromptQuestion, SplicedBody, upstreamHeaders } from '../contract/index.js';
import { FORWARDED_HEADERS, RESPONSES, responsesHeadReader } from './responses.head.js';

/** It is asked with the body of a call, and answered with `{"object":"response.input_tokens","input_tokens":N}`. */
export const RESPONSES_QUESTION: PromptQuestion = {
  protocol: RESPONSES,
  path: '/v1/responses/input_tokens',
  headReader: responsesHeadReader,
  requestFor: (call, model) => ({
    path: '/responses/input_tokens',
    query: '',
    headers: upstreamHeaders(call, ...FORWARDED_HEADERS),
    body: new SplicedBody(call.body, commonEdits(call, { model })),
  }),
  isAnswer: (body) => countIn(body, 'input_tokens') !== undefined,
  render: (tokens) => ({ object: 'response.input_tokens', input_tokens: tokens }),
};
