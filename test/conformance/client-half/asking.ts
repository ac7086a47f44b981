/** Requests of clients. */

import type { Asked } from '../../support/asked.js';
import type { Abilities, Check } from '../abilities.js';
import { askedOfContent } from '../asked-content.js';
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
import type { Asking } from '../shared-abilities.js';
import type { ClientHalf } from './half.js';
import { bodyOf, contentOf } from './speaking.js';

export const asking = (half: ClientHalf): Abilities<Asking> => ({
  'system text': { checks: [reading(half, 'what the system says is read', { ...HELLO, system: 'Be brief.' })] },
  'choice of tools': {
    checks: CHOICES.map((toolChoice) =>
      reading(half, `a choice of tools is read: ${toolChoice} (case 56)`, {
        ...WITH_TOOLS,
        toolChoice,
      }),
    ),
  },
  'choice of one tool': { checks: [reading(half, 'the tool that must be called is read (case 56)', ONE_TOOL)] },
  'one call at a time': {
    checks: [reading(half, 'one call at a time is read (case 57)', { ...WITH_TOOLS, isSerial: true })],
  },
  'results of tools': {
    checks: [
      reading(half, 'a result is read under its call, with what is said behind it (case 66)', ANSWERED_CALL),
      reading(half, 'two results are read, each under its call (case 67)', ANSWERED_CALLS),
    ],
  },
  images: { checks: [reading(half, 'an image is read, with the text before it', PICTURED)] },
  'images in results': {
    checks: [reading(half, 'an image in the result of a tool is read (case 70)', PICTURED_RESULT)],
  },
  'JSON of a schema': {
    checks: [reading(half, 'the schema of an answer is read (case 118)', { ...HELLO, schema: SCHEMA })],
  },
  'stop texts': { checks: [reading(half, 'stop texts are read', { ...HELLO, stop: ['END', '\n\n'] })] },
  'output limit': { checks: [reading(half, 'the limit of the answer is read', { ...HELLO, outputLimit: 321 })] },
});

export const reading = (half: ClientHalf, name: string, asked: Asked): Check => ({
  name,
  run() {
    const expected = asked.tools === undefined ? asked : { toolChoice: 'auto', ...asked };
    expect(askedOfContent(contentOf(half, bodyOf(half, asked)))).toEqual(expected);
  },
});
