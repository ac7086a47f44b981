import { ResponsesProtocol } from '../../../../src/protocols/responses/protocol.js';
import { ResponsesUpstream } from '../../../../src/protocols/responses/upstream.js';
import type { ProtocolUnderTest } from '../../both-halves/protocol-under-test.js';
import { responsesClient } from './client.js';
import { expectResponsesStream } from './grammar.js';
import { responsesVendor } from './vendor.js';

const SCHEMA = { type: 'object', properties: { city: { type: 'string' } } };

/** What the protocol preserves between its halves. */
export const bothHalves: ProtocolUnderTest = {
  client: responsesClient,
  vendor: responsesVendor,
  protocol: new ResponsesProtocol(),
  upstream: new ResponsesUpstream(),
  request: {
    model: 'm',
    input: 'Hello',
    store: false,
    include: ['reasoning.encrypted_content'],
    reasoning: { summary: 'auto' },
    tools: [
      { type: 'function', name: 'get_weather', parameters: SCHEMA, strict: false },
      { type: 'custom', name: 'exec' },
      {
        type: 'namespace',
        name: 'files',
        description: 'Files.',
        tools: [{ type: 'function', name: 'read', parameters: SCHEMA, strict: false }],
      },
    ],
  },
  flags: { reasoning: true },
  traits: {
    freeformTools: true,
    namespaces: true,
    stops: false,
    failedResults: false,
    imagesInResults: true,
    jsonObjects: true,
    reasoning: ['encrypted'],
  },
  carried: (response) => response,
  // Responses are complete or not, without further reasons.
  stops: { stop_sequence: 'end', pause: 'end', context: 'max_tokens' },
  expectStream: expectResponsesStream,
};
