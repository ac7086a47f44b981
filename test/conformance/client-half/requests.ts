/** Requests of clients. */

import type { NeutralRequest } from '../../support/neutral-request.js';
import type { Abilities, Check } from '../abilities.js';
import { neutralRequestOfContent } from '../call-content.js';
import {
  ANSWERED_CALL,
  ANSWERED_CALLS,
  CHOICES,
  HELLO,
  ONE_TOOL,
  PICTURED,
  PICTURED_RESULT,
  SCHEMA,
  WITH_TOOLS,
} from '../examples.js';
import type { RequestAbility } from '../shared-abilities.js';
import type { ClientHalf } from './half.js';
import { bodyOf, contentOf } from './client-calls.js';

export const requestAbilities = (half: ClientHalf): Abilities<RequestAbility> => ({
  'system text': { checks: [reading(half, 'parses system text', { ...HELLO, system: 'Be brief.' })] },
  'choice of tools': {
    checks: CHOICES.map((toolChoice) =>
      reading(half, `parses the choice of tools: ${toolChoice} (case 56)`, {
        ...WITH_TOOLS,
        toolChoice,
      }),
    ),
  },
  'choice of one tool': { checks: [reading(half, 'parses the forced tool (case 56)', ONE_TOOL)] },
  'one call at a time': {
    checks: [reading(half, 'parses one call at a time (case 57)', { ...WITH_TOOLS, isSerial: true })],
  },
  'results of tools': {
    checks: [
      reading(half, 'parses a result with its call ID, and following text (case 66)', ANSWERED_CALL),
      reading(half, 'parses two results with their call IDs (case 67)', ANSWERED_CALLS),
    ],
  },
  images: { checks: [reading(half, 'parses an image after text', PICTURED)] },
  'images in results': {
    checks: [reading(half, 'parses an image in a tool result (case 70)', PICTURED_RESULT)],
  },
  'JSON of a schema': {
    checks: [reading(half, 'parses the output schema (case 118)', { ...HELLO, schema: SCHEMA })],
  },
  'stop texts': { checks: [reading(half, 'parses stop sequences', { ...HELLO, stop: ['END', '\n\n'] })] },
  'output limit': { checks: [reading(half, 'parses the output limit', { ...HELLO, outputLimit: 321 })] },
});

export const reading = (half: ClientHalf, name: string, requested: NeutralRequest): Check => ({
  name,
  run() {
    const expected = requested.tools === undefined ? requested : { toolChoice: 'auto', ...requested };
    expect(neutralRequestOfContent(contentOf(half, bodyOf(half, requested)))).toEqual(expected);
  },
});
