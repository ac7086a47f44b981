import { join } from 'node:path';
import { resultOf } from '../../support/translations.js';
import type { Check } from '../abilities.js';
import { contentAsking } from '../asked-content.js';
import { HELLO } from '../examples.js';
import {
  contentMeant,
  type Fixture,
  fixtureChecks,
  resultMeant,
  withArgumentsRead,
  withoutNames,
} from '../fixtures.js';
import type { UpstreamHalf } from './half.js';
import { listen } from './hearing.js';
import { send, targetOf } from './sending.js';

/** Transcripts from the vendor's documentation. */
export const transcripts = (half: UpstreamHalf, folder: string): Check[] => [
  ...fixtureChecks(join(folder, 'requests'), 'builds requests as documented by the vendor', (fixture) => {
    const { json } = send(half, contentMeant(fixture.meaning), { stream: false });
    expect(json).toEqual(JSON.parse(fixture.wire));
    half.vendor.expectRequest(json);
  }),
  ...fixtureChecks(join(folder, 'answers'), 'decodes responses as documented by the vendor', (fixture) => {
    const meant = resultMeant(fixture.meaning);
    const content = contentAsking(HELLO);
    const read = fixture.isStream
      ? resultOf(listen(half, [streamIn(fixture)], content))
      : half.upstream.decodeResponse(fixture.wire, content, targetOf(half, { stream: false }));
    expect(withArgumentsRead(withoutNames(read, meant))).toEqual(withArgumentsRead(meant));
  }),
];

const streamIn = ({ wire }: Fixture): Buffer => Buffer.from(wire);
