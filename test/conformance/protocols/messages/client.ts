import type { ClientDouble } from '../../client-double.js';
import type { JsonObject } from '../../../support/scripted-steps.js';
import { readEvents, withoutKeepAlives } from '../../../support/stream-text.js';
import { messagesRequest } from './asked.js';
import { expectMessagesFailure, expectMessagesStream } from './grammar.js';
import { foldedMessage, messagesHeard } from './heard.js';

export const messagesClient: ClientDouble = {
  id: 'messages',
  path: '/v1/messages',
  errorForm: 'messages',
  request: (asked, stream) => ({ ...messagesRequest(asked), ...(stream && { stream }) }),
  wantsReasoning: { thinking: { type: 'adaptive', display: 'summarized' } },
  returnsSealedReasoning: true,
  heard: messagesHeard,
  heardStream(stream) {
    expectMessagesStream(readEvents(withoutKeepAlives(stream)));
    return messagesHeard(foldedMessage(stream));
  },
  expectFailure: expectMessagesFailure,
  continued(request, answer, callId) {
    const whole = answer.startsWith('{') ? (JSON.parse(answer) as JsonObject) : foldedMessage(answer);
    const result = { type: 'tool_result', tool_use_id: callId, content: 'Snow.' };
    const said = [
      { role: 'assistant', content: whole['content'] },
      { role: 'user', content: [result] },
    ];
    return { ...request, messages: [...(request['messages'] as JsonObject[]), ...said] };
  },
};
