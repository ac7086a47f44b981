/** Reasoning is decoded and sent back to its vendor. */

import type { CallContent, CallResult } from '../../../src/protocols/contract/index.js';
import { THOUGHT } from '../../support/scripted-content.js';
import type { Abilities, Check } from '../abilities.js';
import { callContentOf } from '../call-content.js';
import { HELLO, THINKING_AND_CALLING, WITH_TOOLS } from '../examples.js';
import type { ReasoningAbility } from '../shared-abilities.js';
import { decoding } from './responses.js';
import type { UpstreamHalf } from './half.js';
import { DELIVERIES } from './stream-reader.js';
import { expectsWarning } from './warnings.js';
import { buildUpstreamRequest } from './upstream-request.js';

const WISH = { reasoning: { effort: 'high', show: 'text' } } as const;

export const reasoning = (half: UpstreamHalf): Abilities<ReasoningAbility> => ({
  'reasoning shown': {
    checks: decoding(
      half,
      'decodes reasoning before text (case 86)',
      { reasoning: ['Compare ', 'both.'], text: '42' },
      { reasoning: 'Compare both.', text: '42' },
      callContentOf(HELLO, WISH),
    ),
    otherwise: expectsWarning(half, 'a wish for reasoning', HELLO, WISH),
  },
  'reasoning given back': {
    checks: [
      ...Object.keys(DELIVERIES).flatMap((way) => givenBack(half, way as keyof typeof DELIVERIES)),
      foreign(half),
    ],
    otherwise: foreign(half),
  },
});

const givenBack = (half: UpstreamHalf, way: keyof typeof DELIVERIES): Check[] => [
  {
    name: `sends reasoning back to its vendor unchanged: ${way} (cases 79, 80 and 87)`,
    run() {
      expect(half.vendor.reasoningMark).toEqual(expect.any(String));
      const again = buildUpstreamRequest(half, secondTurn(DELIVERIES[way](half, THINKING_AND_CALLING, requested())));
      expect(again.body.toString()).toContain(half.vendor.reasoningMark);
      half.vendor.expectRequest(again.json);
      half.vendor.expectReasoning?.(again.json);
    },
  },
  {
    name: `sends reasoning to no other vendor: ${way}`,
    run() {
      expect(half.vendor.reasoningMark).toEqual(expect.any(String));
      const content = secondTurn(DELIVERIES[way](half, THINKING_AND_CALLING, requested()));
      const sent = buildUpstreamRequest(half, content, { family: 'another-family' });
      expect(sent.body.toString()).not.toContain(half.vendor.reasoningMark);
      expect(sent.body.toString()).not.toContain(THOUGHT);
    },
  },
];

/** Sent back by a client that got it from another vendor. */
const foreign = (half: UpstreamHalf): Check => ({
  name: "does not send another vendor's reasoning in any form",
  run() {
    const opaque = { kind: 'signature', family: 'another-family', data: 'c2lnbmVk', text: THOUGHT } as const;
    const parts = [
      { kind: 'reasoning', text: THOUGHT, opaque },
      { kind: 'text', text: 'Well.' },
    ] as const;
    const { turns } = callContentOf(HELLO);
    const again = callContentOf(HELLO, { turns: [...turns, { role: 'assistant', parts }, ...turns] });
    const sent = buildUpstreamRequest(half, again).body.toString();
    expect([sent.includes('Well.'), sent.includes(THOUGHT), sent.includes('c2lnbmVk')]).toEqual([true, false, false]);
  },
});

const requested = (): CallContent => callContentOf(WITH_TOOLS, WISH);

/** The response is sent back with its tool result. */
function secondTurn({ parts }: CallResult): CallContent {
  const content = requested();
  const results = parts.flatMap((part) =>
    part.kind === 'tool-call'
      ? [{ kind: 'tool-result', id: part.id, parts: [{ kind: 'text', text: 'Snow.' }], isError: false } as const]
      : [],
  );
  const own = parts.filter((part) => part.kind !== 'compaction');
  return { ...content, turns: [...content.turns, { role: 'assistant', parts: own }, { role: 'user', parts: results }] };
}
