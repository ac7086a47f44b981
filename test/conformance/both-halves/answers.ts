import fc from 'fast-check';
import { AppError } from '../../../src/platform/shared/index.js';
import { type CallEvent, type CallResult, eventsOf } from '../../../src/protocols/contract/index.js';
import { anyResponse, anyEvents } from '../../support/arbitrary-responses.js';
import { refusalOf } from '../../support/calls.js';
import { readEvents } from '../../support/stream-text.js';
import type { ProtocolUnderTest } from './protocol-under-test.js';
import { context, decode, opened, render, resultOf, target } from './conversions.js';

const RUNS = { numRuns: 200 };

/** A response with everything, for tests that cut and break it. */
const EXAMPLE: readonly CallEvent[] = [
  ...eventsOf({
    parts: [
      { kind: 'reasoning', text: 'Let me see.' },
      { kind: 'text', text: 'Hé 😀 "quoted" \u2028 \\n ☃' },
      { kind: 'tool-call', id: 'call_1', name: 'get_weather', arguments: '{"city":"Oslo"}' },
      { kind: 'tool-call', id: 'call_2', name: 'get_weather', arguments: '{}' },
    ],
    stop: 'tool_calls',
    usage: { input: 9, cacheRead: 4, cacheWrite: 0, cacheWrite1h: 0, output: 7, reasoning: 3 },
  }),
];

/** Responses rendered for clients and decoded as an upstream's. */
export function describeResponses(underTest: ProtocolUnderTest): void {
  const expected = (response: CallResult, how: 'streamed' | 'whole'): CallResult => {
    const { stop, sequence, ...carried } = underTest.carried(response, how);
    const received = underTest.stops[stop] ?? stop;
    return { ...carried, stop: received, sequence: received === 'stop_sequence' ? sequence : undefined };
  };

  it('decodes a rendered stream to the same response (case 120)', () => {
    fc.assert(
      fc.property(anyEvents(underTest.traits), (events) => {
        const stream = render(underTest, events).join('');
        const read = decode(underTest, [Buffer.from(stream)]);
        expect(withoutIds(resultOf(read, underTest))).toEqual(withoutIds(expected(resultOf(events), 'streamed')));
      }),
      RUNS,
    );
  });

  it('renders streams that obey the grammar (cases 25, 26, 27, 28 and 29)', () => {
    fc.assert(
      fc.property(anyEvents(underTest.traits), (events) => {
        underTest.expectStream(readEvents(render(underTest, events).join('')));
      }),
      RUNS,
    );
  });

  it('decodes a rendered unstreamed response to the same response', () => {
    fc.assert(
      fc.property(anyResponse(underTest.traits), (response) => {
        const whole = context(underTest, false);
        const body = underTest.protocol.renderResponse(response, whole);
        const read = opened(underTest.upstream.decodeResponse(body, whole.content, target(underTest)), underTest);
        expect(withoutIds(read)).toEqual(withoutIds(expected(response, 'whole')));
      }),
      RUNS,
    );
  });

  it('keeps an empty response, streamed and unstreamed (case 32)', () => {
    const nothing: CallResult = { parts: [], stop: 'end', sequence: undefined, usage: EXAMPLE_USAGE };
    const stream = render(underTest, [...eventsOf(nothing)]).join('');
    underTest.expectStream(readEvents(stream));
    expect(withoutIds(resultOf(decode(underTest, [Buffer.from(stream)])))).toEqual(withoutIds(nothing));
    const whole = context(underTest, false);
    const body = underTest.protocol.renderResponse(nothing, whole);
    expect(underTest.upstream.decodeResponse(body, whole.content, target(underTest))).toMatchObject({
      parts: [],
      stop: 'end',
    });
  });

  describeBreaks(underTest);
}

const EXAMPLE_USAGE = resultOf(EXAMPLE).usage;

function describeBreaks(underTest: ProtocolUnderTest): void {
  it('reports a truncated stream (cases 36, 37 and 40)', () => {
    const events = render(underTest, EXAMPLE)
      .join('')
      .split(/(?<=\n\n)/);
    const needed = events.findIndex((event) => underTest.vendor.closes.test(event));
    expect(needed).toBeGreaterThan(0);
    for (let count = 0; count <= needed; count += 1) {
      const refusal = refusalOf(() => decode(underTest, [Buffer.from(events.slice(0, count).join(''))]));
      expect([count, refusal]).toMatchObject([count, { kind: 'upstream_truncated', details: { failover: true } }]);
    }
  });

  it('decodes a failed stream as failed, wherever it failed (case 98)', () => {
    for (let count = 0; count < EXAMPLE.length - 1; count += 1) {
      const renderer = underTest.protocol.renderStream(context(underTest, true));
      const before = EXAMPLE.slice(0, count).map((event) => renderer.next(event));
      const failed = [...before, renderer.fail(BROKEN)].join('');
      const { kind } = refusalOf(() => decode(underTest, [Buffer.from(failed)]));
      expect([count, kind]).toEqual([count, 'upstream_error']);
    }
  });
}

const BROKEN = new AppError('upstream_error', 'The upstream broke.');

/** IDs and tiers are made by protocols. */
function withoutIds({ usage, ...result }: CallResult): unknown {
  const { responseId: _, serviceTier: __, ...counts } = usage!;
  const parts = result.parts.map((part) => (part.kind === 'reasoning' ? { ...part, id: undefined } : part));
  return { ...result, parts, usage: counts };
}
