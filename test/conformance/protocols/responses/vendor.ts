import type { VendorDouble } from '../../vendor-double.js';
import { modelIn, openAiError, streamIn } from '../../../support/scripted-bodies.js';
import { responsesBody, responsesEvents, responsesFailure } from './answers.js';
import { readResponsesRequest } from './requests.js';
import { ENCRYPTED_REASONING } from './items.js';
import { expectResponsesRules } from './rules.js';

/** A Responses upstream with reasoning models. */
export const responsesVendor: VendorDouble = {
  id: 'responses',
  lacks: { 'stop texts': 'the protocol has none' },
  flags: { reasoning: true },
  isCall: ({ path }) => path.endsWith('/responses'),
  wantsStream: streamIn,
  modelOf: modelIn,
  headers: { 'x-request-id': 'req_upstream' },
  listing: {
    expectRequest({ path, query }) {
      expect([path, query.toString()]).toEqual(['/models', '']);
    },
    body: (names) => ({
      object: 'list',
      data: names.map((id) => ({ id, object: 'model', created: 1_700_000_000, owned_by: 'vendor' })),
    }),
  },
  events: responsesEvents,
  body: responsesBody,
  errorBody: openAiError,
  tooLong: {
    status: 400,
    body: {
      error: {
        message: 'Your input exceeds the context window of this model. Please adjust your input and try again.',
        type: 'invalid_request_error',
        param: 'input',
        code: 'context_length_exceeded',
      },
    },
  },
  errorEvents: (message, sequence) => responsesFailure(message, 'server_error', sequence),
  closes: /"type":"response\.(?:completed|incomplete)"/,
  readRequest: readResponsesRequest,
  expectRequest: expectResponsesRules,
  reasoningMark: ENCRYPTED_REASONING,
};
