import type { CallResult, ResponsePart, StopReason } from '../../../../src/protocols/contract/index.js';
import { MessagesProtocol } from '../../../../src/protocols/messages/protocol.js';
import { MessagesUpstream } from '../../../../src/protocols/messages/upstream.js';
import type { ProtocolUnderTest } from '../../both-halves/protocol-under-test.js';
import { messagesClient } from './client.js';
import { expectMessagesStream } from './grammar.js';
import { messagesVendor } from './vendor.js';

const SCHEMA = { type: 'object', properties: { city: { type: 'string' } } };

/** What the protocol preserves between its halves. */
export const bothHalves: ProtocolUnderTest = {
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
  // No freeform tools and namespaces.
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
    // Some clients add the initial counts to the final ones.
    expect(events[0]!.data).toContain('"output_tokens":0');
  },
};

/** Refusals become text, and citations need the vendor's search. */
function refusedInWords(response: CallResult): CallResult {
  const parts = response.parts.map((part): ResponsePart => {
    if (part.kind === 'text') return { kind: 'text', text: part.text };
    return part.kind === 'refusal' ? { kind: 'text', text: part.text } : part;
  });
  const stop: StopReason = response.stop === 'refusal' ? 'content_filter' : response.stop;
  return { ...response, parts, stop };
}
