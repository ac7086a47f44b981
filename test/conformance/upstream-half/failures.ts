/** Chunking, broken streams and errors. */

import { AppError, type ErrorKind } from '../../../src/platform/shared/index.js';
import { refusalOf } from '../../support/calls.js';
import { FRAMINGS } from '../../support/framings.js';
import { type ResponseOptions, TIME_CALL, WEATHER_CALL } from '../../support/scripted-content.js';
import { encodeEvent, encodeEvents, type ScriptedEvent } from '../../support/scripted-steps.js';
import type { Abilities, Check } from '../abilities.js';
import { callContentOf } from '../call-content.js';
import { HELLO } from '../examples.js';
import type { UpstreamAbility } from './ability.js';
import type { UpstreamHalf } from './half.js';
import { readChunks, StreamReader, streamOf } from './stream-reader.js';
import { targetOf } from './upstream-request.js';

type FailureAbility = Extract<
  UpstreamAbility,
  'framings and cuts' | 'early end' | 'errors in streams' | 'unreadable answers' | 'refusals by status'
>;

export const failureAbilities = (half: UpstreamHalf): Abilities<FailureAbility> => ({
  'framings and cuts': { checks: [...framings(half), cutAnywhere(half), ...keptAlive(half)] },
  'early end': { checks: ends(half) },
  'errors in streams': { checks: errors(half) },
  'unreadable answers': { checks: unreadable(half) },
  'refusals by status': { checks: [...refusals(half), ...tooLong(half), ...oddRefusals(half), secrets(half)] },
});

/** A stream with everything the protocol supports. */
function fullStream(half: UpstreamHalf): readonly ScriptedEvent[] {
  const { lacks = {} } = half.vendor;
  const response: ResponseOptions = {
    text: ['Hé ', '😀 "quoted"', ' \u2028 \\n ☃'],
    ...(lacks['reasoning shown'] === undefined && { reasoning: ['Let me ', 'see.'] }),
    ...(lacks.tools === undefined && {
      toolCalls: lacks['several calls in one turn'] === undefined ? [WEATHER_CALL, TIME_CALL] : [WEATHER_CALL],
    }),
  };
  return streamOf(half, response);
}

const framings = (half: UpstreamHalf): Check[] =>
  Object.entries(FRAMINGS).map(([framing, framed]) => ({
    name: `decodes the same response from a stream with ${framing}`,
    run() {
      const stream = encodeEvents(fullStream(half));
      expect(readChunks(half, framed(stream))).toEqual(readChunks(half, [stream]));
    },
  }));

/** Keep-alives emit nothing: before the first event, another channel may still respond. */
function keptAlive(half: UpstreamHalf): Check[] {
  const { keepAlive } = half.vendor;
  if (keepAlive === undefined) return [];
  return [
    {
      name: 'ignores keep-alives before and within the response',
      run() {
        const stream = fullStream(half);
        const idle = new StreamReader(half, callContentOf(HELLO));
        idle.next(encodeEvents([keepAlive]));
        expect(idle.events).toEqual([]);
        const open = stream.flatMap((event) => [keepAlive, event]);
        expect(readChunks(half, [encodeEvents(open)])).toEqual(readChunks(half, [encodeEvents(stream)]));
      },
    },
  ];
}

const cutAnywhere = (half: UpstreamHalf): Check => ({
  name: 'decodes the same response wherever the stream is cut in two',
  run() {
    const stream = encodeEvents(fullStream(half));
    const usual = readChunks(half, [stream]);
    for (let at = 1; at < stream.length; at += 1) {
      expect(readChunks(half, [stream.subarray(0, at), stream.subarray(at)])).toEqual(usual);
    }
  },
});

/** Number of events after which nothing is missing. */
function needed({ vendor }: UpstreamHalf, events: readonly ScriptedEvent[]): number {
  const at = events.findIndex((event) => vendor.closes.test(encodeEvent(event).toString()));
  expect(at).toBeGreaterThanOrEqual(0);
  return at + 1;
}

const ends = (half: UpstreamHalf): Check[] => [
  {
    name: 'reports a truncated stream (cases 36, 37 and 40)',
    run() {
      const events = fullStream(half);
      for (let count = 0; count < needed(half, events); count += 1) {
        const refusal = refusalOf(() => readChunks(half, [encodeEvents(events.slice(0, count))]));
        expect(refusal).toMatchObject({ kind: 'upstream_truncated', details: { failover: true } });
      }
    },
  },
  {
    name: 'accepts a stream that closes when complete',
    run() {
      const events = fullStream(half);
      const reported = readChunks(half, [encodeEvents(events.slice(0, needed(half, events)))]);
      expect(reported.at(-1)).toEqual({ type: 'call-end' });
    },
  },
];

const SECRETS = 'The key sk-ab12cd34ef56gh78 of org-ab12cd34 is wrong, see https://api.vendor.example/v1/keys.';
const SECRET = /sk-ab12|org-ab12|vendor\.example/;

const errors = (half: UpstreamHalf): Check[] => [
  {
    name: 'throws on an error anywhere in a stream (case 98)',
    run() {
      const events = fullStream(half);
      for (let count = 0; count < needed(half, events); count += 1) {
        const broken = [...events.slice(0, count), ...half.vendor.errorEvents('Boom.', count)];
        const refusal = refusalOf(() => readChunks(half, [encodeEvents(broken)]));
        expect([count, refusal.kind, refusal.message]).toEqual([
          count,
          'upstream_error',
          expect.stringContaining('Boom.'),
        ]);
      }
    },
  },
  {
    name: 'hides credentials and addresses in stream errors',
    run() {
      const refusal = refusalOf(() => readChunks(half, [encodeEvents(half.vendor.errorEvents(SECRETS, 0))]));
      expect(refusal.message).not.toMatch(SECRET);
    },
  },
];

const ODD_DATA = ['{', 'null', '[]', '7', '"x"', '{}', '{"error":null}', '{"error":{}}', '[DONE]', ''];

const unreadable = (half: UpstreamHalf): Check[] => [
  {
    name: 'throws only upstream errors, whatever an event contains',
    run() {
      const events = fullStream(half);
      for (const data of ODD_DATA) {
        for (const count of [0, 2]) {
          const odd = encodeEvents([...events.slice(0, count), { data }, ...events.slice(count)]);
          expect([data, failureOf(() => readChunks(half, [odd]))]).toEqual([
            data,
            expect.stringMatching(/^(?:upstream_|none)/),
          ]);
        }
      }
    },
  },
  {
    name: 'rejects an unstreamed response that is not a JSON object',
    run() {
      for (const body of ['', '{', 'null', '[]', '7', '<html>It works!</html>']) {
        const decoding = () =>
          half.upstream.decodeResponse(body, callContentOf(HELLO), targetOf(half, { stream: false }));
        expect([body, failureOf(decoding)]).toEqual([body, expect.stringMatching(/^upstream_/)]);
      }
    },
  },
  {
    name: 'decodes two streams independently',
    run() {
      const content = callContentOf(HELLO);
      const events = fullStream(half);
      const alone = readChunks(half, [encodeEvents(events)], content);
      const both = [new StreamReader(half, content), new StreamReader(half, content)];
      for (const event of events) for (const reader of both) reader.next(encodeEvent(event));
      expect(both.map((reader) => reader.end())).toEqual([alone, alone]);
    },
  },
];

/** Kind of the AppError thrown; `none` without one. */
function failureOf(work: () => unknown): string {
  try {
    work();
    return 'none';
  } catch (error) {
    if (error instanceof AppError) return error.kind;
    throw error;
  }
}

/** Includes failover: an invalid request is invalid everywhere. */
const BY_STATUS: readonly [number, ErrorKind, boolean, message?: string][] = [
  [400, 'invalid_request', false],
  [401, 'upstream_auth', true],
  [403, 'upstream_auth', true],
  [404, 'upstream_error', true, 'The model vendor-model does not exist.'],
  [413, 'request_too_large', false],
  [429, 'rate_limit_exceeded', true],
  [500, 'upstream_error', true],
  [503, 'server_is_overloaded', true],
];

const refusals = (half: UpstreamHalf): Check[] =>
  BY_STATUS.map(([status, kind, failover, message = 'This went wrong.']) => ({
    name: `classifies an error with ${status} as ${kind}${failover ? ', with failover' : ''} (case 95)`,
    run() {
      const headers = status === 429 ? { 'retry-after': '17' } : {};
      const error = half.upstream.classifyError(status, headers, half.vendor.errorBody(status, message));
      expect([error.kind, error.details.failover ?? false]).toEqual([kind, failover]);
      if (status === 429) expect(error.details.retryAfterSeconds).toBe(17);
    },
  }));

/** Only this error makes clients shorten the conversation. */
const tooLong = ({ upstream, vendor }: UpstreamHalf): Check[] =>
  (vendor.tooLong === undefined ? [] : [vendor.tooLong]).map(({ status, body }) => ({
    name: 'classifies a prompt that is too long as context_length_exceeded',
    run() {
      const { kind, details } = upstream.classifyError(status, {}, body);
      expect([kind, details.failover ?? false]).toEqual(['context_length_exceeded', false]);
    },
  }));

const oddRefusals = (half: UpstreamHalf): Check[] =>
  ['<html><body>502 Bad Gateway</body></html>', '', null, []].map((body) => ({
    name: `classifies an error with the body ${JSON.stringify(body)}`,
    run() {
      const error = half.upstream.classifyError(502, {}, body);
      expect(error).toBeInstanceOf(AppError);
      expect([error.kind, error.message]).toEqual(['upstream_error', expect.not.stringContaining('<')]);
    },
  }));

const secrets = (half: UpstreamHalf): Check => ({
  name: 'hides credentials and addresses in errors',
  run() {
    for (const status of [400, 401, 404, 429, 500]) {
      const error = half.upstream.classifyError(status, {}, half.vendor.errorBody(status, SECRETS));
      expect([status, error.message]).toEqual([status, expect.not.stringMatching(SECRET)]);
    }
  },
});
