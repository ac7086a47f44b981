import { join } from 'node:path';
import { eventsOf } from '../../../src/protocols/contract/index.js';
import type { Check } from '../abilities.js';
import { HELLO } from '../examples.js';
import { contentMeant, eventsIn, fixtureChecks, meaningOf, pattern, resultMeant } from '../fixtures.js';
import type { ClientHalf } from './half.js';
import { bodyOf, contentOf, contextOf, written } from './client-calls.js';

/** Transcripts from the protocol's documentation. */
export const transcripts = (half: ClientHalf, folder: string): Check[] => [
  ...fixtureChecks(join(folder, 'requests'), 'parses requests as documented', ({ wire, meaning }) => {
    expect(meaningOf(contentOf(half, wire))).toEqual(meaningOf(contentMeant(meaning)));
  }),
  ...fixtureChecks(join(folder, 'answers'), 'renders responses as documented', (fixture) => {
    const { isStream, wire, request = bodyOf(half, HELLO, isStream) } = fixture;
    const meant = resultMeant(fixture.meaning);
    if (isStream)
      expect(eventsIn(written(half, [...eventsOf(meant)], request).join(''))).toEqual(pattern(eventsIn(wire)));
    else {
      const body = half.protocol.renderResponse(meant, contextOf(half, request));
      expect(JSON.parse(body)).toEqual(pattern(JSON.parse(wire)));
    }
  }),
];
