import { modelIn, streamIn } from '../../../support/scripted-bodies.js';
import { THOUGHT } from '../../../support/scripted-content.js';
import type { VendorDouble } from '../../vendor-double.js';
import { commonOfGoogle, TOO_LONG_MESSAGE } from '../gemini/vendor.js';
import { interactionsBody, interactionsEvents, THOUGHT_SIGNATURE } from './answers.js';
import { readInteractionsRequest, requestIn } from './requests.js';
import { expectInteractionsRules } from './rules.js';

/** https://ai.google.dev/gemini-api/docs/api-errors */
const CODES: Readonly<Record<number, string>> = {
  400: 'invalid_request',
  401: 'authentication',
  403: 'permission_denied',
  404: 'model_not_found',
  429: 'rate_limit_exceeded',
  500: 'api_error',
  503: 'service_unavailable',
};

const errorBody = (status: number, message: string) => ({ error: { code: CODES[status] ?? 'api_error', message } });

/** The Interactions API of the Gemini API, with a model that signs its thoughts and rejects sampling. */
export const interactionsVendor: VendorDouble = {
  id: 'interactions',
  ...commonOfGoogle,
  isCall: ({ path }) => path.endsWith('/interactions'),
  wantsStream: streamIn,
  modelOf: modelIn,
  headers: {},
  events: interactionsEvents,
  body: interactionsBody,
  errorBody,
  tooLong: { status: 400, body: errorBody(400, TOO_LONG_MESSAGE) },
  errorEvents: (message) => [{ event: 'error', data: { ...errorBody(500, message), event_type: 'error' } }],
  closes: /"event_type":"interaction\.completed"|"content_blocked"/,
  readRequest: readInteractionsRequest,
  expectRequest: expectInteractionsRules,
  reasoningMark: THOUGHT_SIGNATURE,
  /** Exactly as received, before its call. */
  expectReasoning(request) {
    const steps = requestIn(request).input;
    const at = steps.findIndex(({ signature }) => signature === THOUGHT_SIGNATURE);
    expect(steps[at]).toEqual({
      type: 'thought',
      signature: THOUGHT_SIGNATURE,
      summary: [{ type: 'text', text: THOUGHT }],
    });
    expect(steps[at + 1]?.type).toBe('function_call');
  },
};
