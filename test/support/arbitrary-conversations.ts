/** Random conversations as careless clients send them: results without calls, calls without results, turns in any order. */

import fc from 'fast-check';
import type { CallContent, Part, Turn } from '../../src/protocols/contract/index.js';
import { anyContent } from './arbitrary-contents.js';
import { anyText } from './arbitrary-values.js';

/** As few ids as make them come twice. Some have signs that no vendor takes. */
const id = fc.constantFrom('call_1', 'call_2', 'functions.exec:7', 'x'.repeat(86));

const text = fc.oneof(anyText, fc.constant('  \n')).map((said): Part => ({ kind: 'text', text: said }));

const assistantPart: fc.Arbitrary<Part> = fc.oneof(
  text,
  fc
    .tuple(id, fc.constantFrom('get_weather', 'a.name with spaces'))
    .map(([callId, name]): Part => ({ kind: 'tool-call', id: callId, name, arguments: '{"n":9007199254740993}' })),
  anyText.map((said): Part => ({ kind: 'refusal', text: said })),
  anyText.map((said): Part => ({ kind: 'reasoning', text: said })),
);

const userPart: fc.Arbitrary<Part> = fc.oneof(
  text,
  fc.tuple(id, fc.boolean(), fc.option(anyText)).map(([callId, isError, said]): Part => ({
    kind: 'tool-result',
    id: callId,
    isError,
    parts: said === null ? [] : [{ kind: 'text', text: said }],
  })),
  fc.constant<Part>({ kind: 'image', source: { from: 'data', mediaType: 'image/png', base64: 'iVBORw0KGgo=' } }),
);

const turn: fc.Arbitrary<Turn> = fc.oneof(
  fc.array(assistantPart, { minLength: 1, maxLength: 4 }).map((parts): Turn => ({ role: 'assistant', parts })),
  fc.array(userPart, { minLength: 1, maxLength: 4 }).map((parts): Turn => ({ role: 'user', parts })),
  anyText.map((said): Turn => ({ role: 'system', parts: [{ kind: 'text', text: said }] })),
);

/** As content promises: no two neighbours are the same side's, and calls of one turn have ids of their own. */
function alternating(turns: readonly Turn[]): readonly Turn[] {
  const kept: Turn[] = [];
  for (const { role, parts } of [...turns, LAST]) {
    const last = kept.at(-1);
    if (last?.role === role && role !== 'system') kept[kept.length - 1] = { role, parts: [...last.parts, ...parts] };
    else kept.push({ role, parts });
  }
  return kept.map(({ role, parts }) => ({ role, parts: parts.filter(isFirstOfItsId) }));
}

const LAST: Turn = { role: 'user', parts: [{ kind: 'text', text: 'Well?' }] };

const isFirstOfItsId = (part: Part, index: number, parts: readonly Part[]): boolean =>
  part.kind !== 'tool-call' || parts.findIndex((other) => other.kind === 'tool-call' && other.id === part.id) === index;

export const anyConversation: fc.Arbitrary<CallContent> = fc
  .tuple(
    anyContent({
      freeformTools: true,
      namespaces: true,
      stops: true,
      failedResults: true,
      imagesInResults: true,
      jsonObjects: true,
      reasoning: ['signature', 'redacted', 'encrypted'],
    }),
    fc.array(turn, { maxLength: 6 }),
    fc.boolean(),
  )
  .map(([content, turns, isTidy]) => ({ ...content, turns: isTidy ? content.turns : alternating(turns) }));
