import type { ClientDouble } from '../../client-double.js';
import type { JsonObject } from '../../../support/scripted-steps.js';
import { readEvents, withoutKeepAlives } from '../../../support/stream-text.js';
import { messagesRequest } from './requests.js';
import { expectMessagesFailure, expectMessagesStream } from './grammar.js';
import { foldedMessage, readMessagesResponse } from './responses.js';

export const messagesClient: ClientDouble = {
  id: 'messages',
  path: '/v1/messages',
  errorForm: 'messages',
  request: (requested, stream) => ({ ...messagesRequest(requested), ...(stream && { stream }) }),
  wantsReasoning: { thinking: { type: 'adaptive', display: 'summarized' } },
  returnsSealedReasoning: true,
  readResponse: readMessagesResponse,
  readStream(stream) {
    expectMessagesStream(readEvents(withoutKeepAlives(stream)));
    return readMessagesResponse(foldedMessage(stream));
  },
  expectFailure: expectMessagesFailure,
  continued(request, response, callId) {
    const whole = response.startsWith('{') ? (JSON.parse(response) as JsonObject) : foldedMessage(response);
    const result = { type: 'tool_result', tool_use_id: callId, content: 'Snow.' };
    const said = [
      { role: 'assistant', content: whole['content'] },
      { role: 'user', content: [result] },
    ];
    return { ...request, messages: [...(request['messages'] as JsonObject[]), ...said] };
  },
};
