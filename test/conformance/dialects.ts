import type { AnswerPart, CallResult, StopReason } from '../../src/call/index.js';
import { ChatCompletionsProtocol } from '../../src/protocols/chat-completions/chat-completions.protocol.js';
import { ChatCompletionsUpstream } from '../../src/protocols/chat-completions/chat-completions.upstream.js';
import { MessagesProtocol } from '../../src/protocols/messages/messages.protocol.js';
import { MessagesUpstream } from '../../src/protocols/messages/messages.upstream.js';
import { ResponsesProtocol } from '../../src/protocols/responses/responses.protocol.js';
import { ResponsesUpstream } from '../../src/protocols/responses/responses.upstream.js';
import { FAMILY } from '../support/arbitrary-answers.js';
import { expectChatFailure, expectChatStream } from '../support/chat-grammar.js';
import type { Dialect } from '../support/scripted-upstream.js';
import { expectMessagesFailure, expectMessagesStream } from '../support/messages-grammar.js';
import { expectResponsesFailure, expectResponsesStream } from '../support/responses-grammar.js';
import { expectChatRules, expectMessagesRules, expectResponsesRules } from '../support/request-rules.js';
import type { DialectUnderTest } from './dialect-under-test.js';

const SCHEMA = { type: 'object', properties: { city: { type: 'string' } } };

const responses: DialectUnderTest = {
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
  carried: (answer) => answer,
  // A response is complete or not, and says no more of the reason.
  stops: { stop_sequence: 'end', pause: 'end', context: 'max_tokens' },
  closes: /"type":"response\.(?:completed|incomplete)"/,
  expectStream: expectResponsesStream,
  expectFailure: expectResponsesFailure,
  expectRequest: expectResponsesRules,
};

const chatCompletions: DialectUnderTest = {
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
    // A failed result says so in its text, and images stand in a message of their own.
    failedResults: false,
    imagesInResults: false,
    jsonObjects: true,
    // Reasoning that its clients send back is nobody's word.
    reasoning: [],
  },
  // There is no place for a seal.
  carried: (answer, how) => inRuns(unsealed(answer), how === 'whole' ? bySort : undefined),
  stops: { stop_sequence: 'end', pause: 'end', context: 'max_tokens' },
  // Some servers leave the marker out.
  closes: /"finish_reason":"/,
  expectStream: (events) => expectChatStream(events, true),
  expectFailure: expectChatFailure,
  expectRequest: expectChatRules,
};

const messages: DialectUnderTest = {
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
  closes: /"type":"message_stop"/,
  expectStream: (events) => {
    expectMessagesStream(events);
    // Some clients add what the beginning says to what the end reports.
    expect(events[0]!.data).toContain('"output_tokens":0');
  },
  expectFailure: expectMessagesFailure,
  expectRequest: expectMessagesRules,
};

export const DIALECTS_UNDER_TEST: Readonly<Record<Dialect, DialectUnderTest>> = {
  'chat-completions': chatCompletions,
  messages,
  responses,
};

/** What can be read of it may be given back to the upstream that wrote it. */
function unsealed(answer: CallResult): CallResult {
  const parts = answer.parts.flatMap((part): AnswerPart[] => {
    if (part.kind !== 'reasoning') return [part];
    return part.text === '' ? [] : [thought(part.text)];
  });
  return { ...answer, parts };
}

const thought = (text: string): AnswerPart => ({
  kind: 'reasoning',
  text,
  opaque: { kind: 'text', family: FAMILY, data: '', text },
});

/** In which order a whole message has its parts. */
const ORDER: readonly AnswerPart['kind'][] = ['reasoning', 'text', 'refusal', 'tool-call'];
const bySort = (one: AnswerPart, other: AnswerPart): number => ORDER.indexOf(one.kind) - ORDER.indexOf(other.kind);

/** Chat Completions has one text where others have several in a row. */
function inRuns(answer: CallResult, order?: (one: AnswerPart, other: AnswerPart) => number): CallResult {
  const parts: AnswerPart[] = [];
  for (const part of order ? answer.parts.toSorted(order) : answer.parts) {
    const last = parts.at(-1);
    if (part.kind === 'text' && last?.kind === 'text') {
      const annotations = [...(last.annotations ?? []), ...(part.annotations ?? [])];
      parts[parts.length - 1] = {
        kind: 'text',
        text: last.text + part.text,
        ...(annotations.length > 0 && { annotations }),
      };
    } else if (part.kind === 'reasoning' && last?.kind === 'reasoning') {
      parts[parts.length - 1] = thought(last.text + part.text);
    } else parts.push(part);
  }
  return { ...answer, parts };
}

/** Messages says a refusal in a text, and has its citations from searches of its own. */
function refusedInWords(answer: CallResult): CallResult {
  const parts = answer.parts.map((part): AnswerPart => {
    if (part.kind === 'text') return { kind: 'text', text: part.text };
    return part.kind === 'refusal' ? { kind: 'text', text: part.text } : part;
  });
  const stop: StopReason = answer.stop === 'refusal' ? 'content_filter' : answer.stop;
  return { ...answer, parts, stop };
}
