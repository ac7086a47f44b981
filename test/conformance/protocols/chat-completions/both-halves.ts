import type { CallResult, ResponsePart } from '../../../../src/protocols/contract/index.js';
import { ChatCompletionsProtocol } from '../../../../src/protocols/chat-completions/protocol.js';
import { ChatCompletionsUpstream } from '../../../../src/protocols/chat-completions/upstream.js';
import type { ProtocolUnderTest } from '../../both-halves/protocol-under-test.js';
import { chatClient } from './client.js';
import { FAMILY } from '../../../support/arbitrary-responses.js';
import { expectChatStream } from './grammar.js';
import { chatVendor } from './vendor.js';

const SCHEMA = { type: 'object', properties: { city: { type: 'string' } } };

/** What the protocol preserves between its halves. */
export const bothHalves: ProtocolUnderTest = {
  client: chatClient,
  vendor: chatVendor,
  protocol: new ChatCompletionsProtocol(),
  upstream: new ChatCompletionsUpstream(),
  request: {
    model: 'm',
    messages: [{ role: 'user', content: 'Hello' }],
    stream_options: { include_usage: true },
    tools: [
      { type: 'function', function: { name: 'get_weather', parameters: SCHEMA } },
      { type: 'custom', custom: { name: 'exec' } },
    ],
  },
  flags: { customTools: true, developerRole: true, midSystem: 'native', reasoning: true },
  traits: {
    freeformTools: true,
    namespaces: false,
    stops: true,
    // Failures become text, and images a separate message.
    failedResults: false,
    imagesInResults: false,
    jsonObjects: true,
    // Reasoning from clients is unsigned.
    reasoning: [],
  },
  // There is no member for a seal.
  carried: (response, how) => inRuns(unsealed(response), how === 'whole' ? bySort : undefined),
  stops: { stop_sequence: 'end', pause: 'end', context: 'max_tokens' },
  expectStream: (events) => expectChatStream(events, true),
};

/** Readable reasoning may be sent back to its upstream. */
function unsealed(response: CallResult): CallResult {
  const parts = response.parts.flatMap((part): ResponsePart[] => {
    if (part.kind !== 'reasoning') return [part];
    return part.text === '' ? [] : [reasoningBlock(part.text)];
  });
  return { ...response, parts };
}

const reasoningBlock = (text: string): ResponsePart => ({
  kind: 'reasoning',
  text,
  opaque: { kind: 'text', family: FAMILY, data: '', text },
});

/** Order of parts in an unstreamed message. */
const ORDER: readonly ResponsePart['kind'][] = ['reasoning', 'text', 'refusal', 'tool-call'];
const bySort = (one: ResponsePart, other: ResponsePart): number => ORDER.indexOf(one.kind) - ORDER.indexOf(other.kind);

/** Adjacent texts are one. */
function inRuns(response: CallResult, order?: (one: ResponsePart, other: ResponsePart) => number): CallResult {
  const parts: ResponsePart[] = [];
  for (const part of order ? response.parts.toSorted(order) : response.parts) {
    const last = parts.at(-1);
    if (part.kind === 'text' && last?.kind === 'text') {
      const annotations = [...(last.annotations ?? []), ...(part.annotations ?? [])];
      parts[parts.length - 1] = {
        kind: 'text',
        text: last.text + part.text,
        ...(annotations.length > 0 && { annotations }),
      };
    } else if (part.kind === 'reasoning' && last?.kind === 'reasoning') {
      parts[parts.length - 1] = reasoningBlock(last.text + part.text);
    } else parts.push(part);
  }
  return { ...response, parts };
}
