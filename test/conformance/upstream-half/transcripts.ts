import { join } from 'node:path';
import { resultOf } from '../../support/translations.js';
import type { Check } from '../abilities.js';
import { callContentOf } from '../call-content.js';
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
import { readChunks } from './stream-reader.js';
import { buildUpstreamRequest, targetOf } from './upstream-request.js';

/** Transcripts from the vendor's documentation. */
export const transcripts = (half: UpstreamHalf, folder: string): Check[] => [
  ...fixtureChecks(join(folder, 'requests'), 'builds requests as documented by the vendor', (fixture) => {
    const { json } = buildUpstreamRequest(half, contentMeant(fixture.meaning), { stream: false });
    expect(json).toEqual(JSON.parse(fixture.wire));
    half.vendor.expectRequest(json);
  }),
  ...fixtureChecks(join(folder, 'answers'), 'decodes responses as documented by the vendor', (fixture) => {
    const meant = resultMeant(fixture.meaning);
    const content = callContentOf(HELLO);
    const read = fixture.isStream
      ? resultOf(readChunks(half, [streamIn(fixture)], content))
      : half.upstream.decodeResponse(fixture.wire, content, targetOf(half, { stream: false }));
    expect(withArgumentsRead(withoutNames(read, meant))).toEqual(withArgumentsRead(meant));
  }),
];

const streamIn = ({ wire }: Fixture): Buffer => Buffer.from(wire);
