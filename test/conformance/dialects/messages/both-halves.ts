import type { ResponsePart, CallResult, StopReason } from '../../../../src/protocols/contract/index.js';
import { MessagesProtocol } from '../../../../src/protocols/messages/protocol.js';
import { MessagesUpstream } from '../../../../src/protocols/messages/upstream.js';
import type { DialectUnderTest } from '../../both-halves/dialect-under-test.js';
import { messagesClient } from './client.js';
import { expectMessagesStream } from './grammar.js';
import { messagesVendor } from './vendor.js';

const SCHEMA = { type: 'object', properties: { city: { type: 'string' } } };

/** What the dialect carries from its own upstream half to its own client half. */
export const bothHalves: DialectUnderTest = {
  client: messagesClient,
  vendor: messagesVendor,
  protocol: new MessagesProtocol(),
  upstream: new MessagesUpstream(),
  request: {
    model: 'm',
    max_tokens: 1000,
    messages: [{ role: 'user', content: 'Hello' }],
    thinking: { type: 'adaptive', display: 'summarized' },
    tools: [{ name: 'get_weather', input_schema: SCHEMA }],
  },
  flags: { thinkingMode: 'adaptive', midSystem: 'native' },
  // Tools of this dialect take JSON and have no namespaces: its clients can have asked for no others.
  traits: {
    freeformTools: false,
    namespaces: false,
    stops: true,
    failedResults: true,
    imagesInResults: true,
    jsonObjects: false,
    reasoning: ['signature', 'redacted'],
  },
  carried: refusedInWords,
  stops: {},
  expectStream: (events) => {
    expectMessagesStream(events);
    // Some clients add what the beginning says to what the end reports.
    expect(events[0]!.data).toContain('"output_tokens":0');
  },
};

/** Messages says a refusal in a text, and has its citations from searches of its own. */
function refusedInWords(answer: CallResult): CallResult {
  const parts = answer.parts.map((part): ResponsePart => {
    if (part.kind === 'text') return { kind: 'text', text: part.text };
    return part.kind === 'refusal' ? { kind: 'text', text: part.text } : part;
  });
  const stop: StopReason = answer.stop === 'refusal' ? 'content_filter' : answer.stop;
  return { ...answer, parts, stop };
}
