/** Reasoning is rendered if requested, and sent back as it was signed. */

import type { CallResult, OpaqueReasoning } from '../../../src/protocols/contract/index.js';
import { FAMILY } from '../../support/arbitrary-responses.js';
import { THOUGHT } from '../../support/scripted-content.js';
import type { JsonObject } from '../../support/scripted-steps.js';
import type { Abilities, Check } from '../abilities.js';
import { HELLO, THINKING_AND_CALLING, WITH_TOOLS } from '../examples.js';
import type { ReasoningAbility } from '../shared-abilities.js';
import { rendering } from './responses.js';
import type { ClientHalf } from './half.js';
import { responseSaying, bodyOf, contentOf, DELIVERIES } from './client-calls.js';

/** Signed text. */
const SIGNED: OpaqueReasoning = { kind: 'signature', family: FAMILY, data: 'c2lnbmVk', text: THOUGHT };

export const reasoning = (half: ClientHalf): Abilities<ReasoningAbility> => ({
  'reasoning shown': {
    checks: [
      {
        name: 'parses a request for readable reasoning',
        run() {
          const body = bodyOf(half, HELLO, false, half.client.wantsReasoning);
          expect(contentOf(half, body).reasoning.show).toBe('text');
        },
      },
      ...rendering(
        half,
        'renders reasoning before text (case 86)',
        { reasoning: 'Compare both.', text: '42' },
        { reasoning: 'Compare both.', text: '42' },
        (stream) => bodyOf(half, HELLO, stream, half.client.wantsReasoning),
      ),
    ],
    otherwise: stillSaid(half),
  },
  'reasoning given back': {
    checks: Object.keys(DELIVERIES).map((way) => givenBack(half, way as keyof typeof DELIVERIES)),
  },
});

const stillSaid = (half: ClientHalf): Check => ({
  name: 'renders the rest of a response when reasoning is not supported',
  run() {
    for (const { stream, write, hear } of Object.values(DELIVERIES)) {
      const response = responseSaying({ reasoning: 'Compare both.', text: '42' });
      expect(hear(half, write(half, response, bodyOf(half, HELLO, stream)))).toMatchObject({
        reasoning: '',
        text: '42',
      });
    }
  },
});

const givenBack = (half: ClientHalf, way: keyof typeof DELIVERIES): Check => ({
  name: `parses signed reasoning unchanged when sent back: ${way} (cases 79, 80 and 87)`,
  run() {
    const { stream, write } = DELIVERIES[way];
    const body = bodyOf(half, WITH_TOOLS, stream, half.client.wantsReasoning);
    const response = write(half, signed(responseSaying(THINKING_AND_CALLING)), body);
    const again = half.client.continued(JSON.parse(body) as JsonObject, response, 'call_9');
    const parts = contentOf(half, JSON.stringify(again)).turns.flatMap((turn) => turn.parts);
    const opaque = parts.flatMap((part) => (part.kind === 'reasoning' ? [part.opaque] : []));
    expect(opaque).toEqual([SIGNED]);
  },
});

const signed = ({ parts, ...response }: CallResult): CallResult => ({
  ...response,
  parts: parts.map((part) => (part.kind === 'reasoning' ? { ...part, opaque: SIGNED } : part)),
});
