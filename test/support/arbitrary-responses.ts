/** Random answers, as any upstream may give them: legal events, cut into pieces anywhere. */

import fc from 'fast-check';
import {
  type Annotation,
  type ResponsePart,
  type CallEvent,
  type CallResult,
  eventsOf,
  NO_TOKENS,
  type OpaqueReasoning,
  type ReasoningPart,
  type StopReason,
  type TokenUsage,
  type ToolCallPart,
} from '../../src/protocols/contract/index.js';
import { anyJsonObject, anyText } from './arbitrary-values.js';

/** What of a random answer a protocol has words for. */
export interface ResponseTraits {
  readonly freeformTools: boolean;
  readonly namespaces: boolean;
}

/** Whose reasoning it is: what a relay opens again goes to this family only. */
export const FAMILY = 'family-of-tests';

const ORDINARY_STOPS: readonly StopReason[] = [
  'end',
  'max_tokens',
  'stop_sequence',
  'content_filter',
  'pause',
  'context',
];
const MOST_PARTS = 5;

const annotation: fc.Arbitrary<Annotation> = fc.record({
  url: fc.webUrl(),
  title: anyText,
});

const textPart: fc.Arbitrary<ResponsePart> = fc
  .tuple(anyText, fc.array(annotation, { maxLength: 2 }))
  .map(([text, annotations]) => ({ kind: 'text', text, ...(annotations.length > 0 && { annotations }) }));

/** Reasoning that can be read, that is hidden, and both; as vendors sign and encrypt it, and as nobody does. */
const reasoningPart: fc.Arbitrary<ReasoningPart> = fc.oneof(
  anyText.map((text): ReasoningPart => ({ kind: 'reasoning', text })),
  sealed('signature', anyText),
  sealed('signature', fc.constant('')),
  sealed('encrypted', anyText),
  sealed('redacted', fc.constant('')),
);

function sealed(kind: OpaqueReasoning['kind'], texts: fc.Arbitrary<string>): fc.Arbitrary<ReasoningPart> {
  return fc.tuple(texts, fc.base64String({ minLength: 4, maxLength: 40 })).map(([text, data]) => ({
    kind: 'reasoning',
    text,
    opaque: { kind, family: FAMILY, data, text: kind === 'signature' ? text : '' },
  }));
}

/** Ids come later: they differ from each other. */
const toolCall = ({ freeformTools, namespaces }: ResponseTraits): fc.Arbitrary<ToolCallPart> => {
  const plain = anyJsonObject.map((json): ToolCallPart => ({ ...CALL, name: 'get_weather', arguments: json }));
  const freeform = anyText.map((text) => ({ ...CALL, name: 'exec', arguments: text, isFreeform: true }));
  const spaced = anyJsonObject.map((json) => ({ ...CALL, name: 'read', namespace: 'files', arguments: json }));
  return fc.oneof(plain, plain, ...(freeformTools ? [freeform] : []), ...(namespaces ? [spaced] : []));
};

const CALL = { kind: 'tool-call', id: '' } as const;

export const anyUsage: fc.Arbitrary<TokenUsage> = fc
  .record({
    // A report of nothing but zeros is a placeholder, which does not replace what was known before.
    fresh: fc.integer({ min: 1, max: 9000 }),
    cacheRead: fc.nat(9000),
    cacheWrite: fc.nat(9000),
    reasoning: fc.nat(900),
    rest: fc.nat(900),
  })
  .map(({ fresh, cacheRead, cacheWrite, reasoning, rest }) => ({
    ...NO_TOKENS,
    input: fresh + cacheRead + cacheWrite,
    cacheRead,
    cacheWrite,
    output: reasoning + rest,
    reasoning,
  }));

/** A whole response in which everything fits together: calls are why it stops, and a refusal is all that it says. */
export function anyResponse(traits: ResponseTraits): fc.Arbitrary<CallResult> {
  const parts = fc.array(fc.oneof(textPart, reasoningPart, toolCall(traits)), { maxLength: MOST_PARTS });
  const said = fc.record({ parts, wish: fc.constantFrom(...ORDINARY_STOPS), sequence: anyText, usage: anyUsage });
  const refused = fc
    .record({ text: anyText, usage: anyUsage })
    .map(({ text, usage }): CallResult => ({ parts: [{ kind: 'refusal', text }], stop: 'refusal', usage }));
  return fc.oneof({ weight: 9, arbitrary: said.map(asResponse) }, { weight: 1, arbitrary: refused });
}

interface ResultDraft {
  readonly parts: readonly ResponsePart[];
  readonly wish: StopReason;
  readonly sequence: string;
  readonly usage: TokenUsage;
}

function asResponse({ parts, wish, sequence, usage }: ResultDraft): CallResult {
  const named = parts.map((part, index) => (part.kind === 'tool-call' ? { ...part, id: `call_${index}` } : part));
  const calls = named.some(({ kind }) => kind === 'tool-call');
  const stop = calls && wish !== 'max_tokens' ? 'tool_calls' : wish;
  return { parts: named, stop, sequence: stop === 'stop_sequence' ? sequence : undefined, usage };
}

/** The events of a random answer. A limit may have cut its last call short. */
export function anyEvents(traits: ResponseTraits): fc.Arbitrary<readonly CallEvent[]> {
  const sizes = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 4 });
  return fc
    .record({ response: anyResponse(traits), sizes, isCut: fc.boolean(), isMeteredEarly: fc.boolean() })
    .map(({ response, sizes: cuts, isCut, isMeteredEarly }) => {
      const [start, ...others] = eventsOf(isCut ? withCutCall(response) : response);
      const early: CallEvent = { type: 'usage-update', usage: { ...NO_TOKENS, input: 1 }, isProvisional: true };
      return [start!, ...(isMeteredEarly ? [early] : []), ...others].flatMap((event) => cutDelta(event, cuts));
    });
}

function withCutCall(response: CallResult): CallResult {
  const last = response.parts.at(-1);
  if (response.stop !== 'max_tokens' || last?.kind !== 'tool-call' || last.isFreeform === true) return response;
  const text = last.arguments.slice(0, Math.ceil(last.arguments.length / 2));
  return { ...response, parts: [...response.parts.slice(0, -1), { ...last, arguments: text }] };
}

/** The same delta in pieces of these sizes, in turn: UTF-16 halves of one character may come apart. */
function cutDelta(event: CallEvent, sizes: readonly number[]): CallEvent[] {
  if (event.type !== 'part-delta') return [event];
  const pieces: CallEvent[] = [];
  for (let at = 0, turn = 0; at < event.text.length; turn += 1) {
    const size = sizes[turn % sizes.length]!;
    pieces.push({ type: 'part-delta', text: event.text.slice(at, at + size) });
    at += size;
  }
  return pieces;
}
