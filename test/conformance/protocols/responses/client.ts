import type { ClientDouble } from '../../client-double.js';
import type { JsonObject } from '../../../support/scripted-steps.js';
import { readEvents, withoutKeepAlives } from '../../../support/stream-text.js';
import { responsesRequest } from './requests.js';
import { expectResponsesFailure, expectResponsesStream } from './grammar.js';
import { foldedResponse, readResponsesResponse } from './responses.js';

/** A Responses client without storage. */
export const responsesClient: ClientDouble = {
  id: 'responses',
  path: '/v1/responses',
  lacks: { 'stop texts': 'the protocol has none' },
  errorForm: 'openai',
  request: (requested, stream) => ({ ...responsesRequest(requested), ...(stream && { stream }) }),
  wantsReasoning: { reasoning: { effort: 'high', summary: 'auto' }, include: ['reasoning.encrypted_content'] },
  returnsSealedReasoning: true,
  readResponse: readResponsesResponse,
  readStream(stream) {
    expectResponsesStream(readEvents(withoutKeepAlives(stream)));
    return readResponsesResponse(foldedResponse(stream));
  },
  // The error in both forms, and the marker.
  failureEvents: 3,
  expectFailure: expectResponsesFailure,
  continued(request, response, callId) {
    const whole = response.startsWith('{') ? (JSON.parse(response) as JsonObject) : foldedResponse(response);
    const result = { type: 'function_call_output', call_id: callId, output: 'Snow.' };
    return { ...request, input: [...(request['input'] as JsonObject[]), ...(whole['output'] as JsonObject[]), result] };
  },
};
