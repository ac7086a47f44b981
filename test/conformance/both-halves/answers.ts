import fc from 'fast-check';
import { type CallEvent, type CallResult, EventGrammar, eventsOf, SseSplitter } from '../../../src/call/index.js';
import { AppError } from '../../../src/shared/index.js';
import { anyAnswer, anyEvents } from '../../support/arbitrary-answers.js';
import { refusalOf } from '../../support/calls.js';
import { FRAMINGS } from '../../support/framings.js';
import { readEvents } from '../../support/stream-text.js';
import type { DialectUnderTest } from './dialect-under-test.js';
import { context, decode, opened, render, resultOf, target } from './speaking.js';

const RUNS = { numRuns: 200 };

/** An answer of everything, for tests that cut and break it. */
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

/** Answers on their way through one dialect: written for a client, and read as an upstream's. */
export function describeAnswers(dialect: DialectUnderTest): void {
  const expected = (answer: CallResult, how: 'streamed' | 'whole'): CallResult => {
    const { stop, sequence, ...carried } = dialect.carried(answer, how);
    const heard = dialect.stops[stop] ?? stop;
    return { ...carried, stop: heard, sequence: heard === 'stop_sequence' ? sequence : undefined };
  };

  it('a stream that was written is read as the same answer (case 120)', () => {
    fc.assert(
      fc.property(anyEvents(dialect.traits), (events) => {
        const stream = render(dialect, events).join('');
        const read = decode(dialect, [Buffer.from(stream)]);
        expect(withoutIds(resultOf(read))).toEqual(withoutIds(expected(resultOf(events), 'streamed')));
      }),
      RUNS,
    );
  });

  it('a stream that was written obeys the grammar of the dialect (cases 25, 26, 27, 28 and 29)', () => {
    fc.assert(
      fc.property(anyEvents(dialect.traits), (events) => {
        dialect.expectStream(readEvents(render(dialect, events).join('')));
      }),
      RUNS,
    );
  });

  it('a whole answer that was written is read as the same answer', () => {
    fc.assert(
      fc.property(anyAnswer(dialect.traits), (answer) => {
        const whole = context(dialect, false);
        const body = dialect.protocol.renderResponse(answer, whole);
        const read = opened(dialect.upstream.decodeResponse(body, whole.content, target(dialect)));
        expect(withoutIds(read)).toEqual(withoutIds(expected(answer, 'whole')));
      }),
      RUNS,
    );
  });

  it('an answer of nothing is an answer, streamed and whole (case 32)', () => {
    const nothing: CallResult = { parts: [], stop: 'end', sequence: undefined, usage: EXAMPLE_USAGE };
    const stream = render(dialect, [...eventsOf(nothing)]).join('');
    dialect.expectStream(readEvents(stream));
    expect(withoutIds(resultOf(decode(dialect, [Buffer.from(stream)])))).toEqual(withoutIds(nothing));
    const whole = context(dialect, false);
    const body = dialect.protocol.renderResponse(nothing, whole);
    expect(dialect.upstream.decodeResponse(body, whole.content, target(dialect))).toMatchObject({
      parts: [],
      stop: 'end',
    });
  });

  it('every piece of a text is there as soon as it was said', () => {
    const pieces = ['one ', 'two ', 'three'];
    const events: CallEvent[] = [
      { type: 'call-start' },
      { type: 'part-start', start: { kind: 'text' } },
      ...pieces.map((text): CallEvent => ({ type: 'part-delta', text })),
    ];
    const written = render(dialect, events);
    const read = pieces.map((_, index) =>
      written
        .slice(0, index + 3)
        .join('')
        .includes(pieces[index]!),
    );
    expect(read).toEqual([true, true, true]);
    const decoder = dialect.upstream.decodeStream(context(dialect, true).content, target(dialect));
    expect(feed(decoder, written.join('')).filter(({ type }) => type === 'part-delta')).toHaveLength(3);
  });

  describeFramings(dialect);
  describeBreaks(dialect);
}

const EXAMPLE_USAGE = resultOf(EXAMPLE).usage;

function describeFramings(dialect: DialectUnderTest): void {
  const stream = Buffer.from(render(dialect, EXAMPLE).join(''));
  const usual = decode(dialect, [stream]);

  it.each(Object.keys(FRAMINGS))('a stream is the same answer: %s', (framing) => {
    expect(decode(dialect, FRAMINGS[framing]!(stream))).toEqual(usual);
  });

  it('a stream is the same answer wherever it is cut in two', () => {
    for (let at = 1; at < stream.length; at += 1) {
      expect(decode(dialect, [stream.subarray(0, at), stream.subarray(at)])).toEqual(usual);
    }
  });
}

function describeBreaks(dialect: DialectUnderTest): void {
  const written = render(dialect, EXAMPLE);
  const events = written.join('').split(/(?<=\n\n)/);
  const whole = events.findIndex((event) => dialect.vendor.closes.test(event));

  it.each(events.slice(0, whole + 1).map((_, index) => index))(
    'a stream that ends before its event %i is cut short, and says so (cases 36, 37 and 40)',
    (count) => {
      const refusal = refusalOf(() => decode(dialect, [Buffer.from(events.slice(0, count).join(''))]));
      expect(refusal).toMatchObject({ kind: 'upstream_truncated', details: { failover: true } });
    },
  );

  it.each(EXAMPLE.slice(0, -1).map((_, index) => index))(
    'a stream that fails behind %i pieces ends as failed, and reads as failed (case 98)',
    (count) => {
      const renderer = dialect.protocol.renderStream(context(dialect, true));
      const before = EXAMPLE.slice(0, count)
        .map((event) => renderer.next(event))
        .join('');
      const ending = renderer.fail(new AppError('upstream_error', 'The upstream broke.'));
      dialect.client.expectFailure(readEvents(before), readEvents(ending));
      expect(ending).toContain('The upstream broke.');
      expect(refusalOf(() => decode(dialect, [Buffer.from(before + ending)])).kind).toBe('upstream_error');
    },
  );
}

/** What a decoder that has not seen the end has read so far. */
function feed(decoder: ReturnType<DialectUnderTest['upstream']['decodeStream']>, text: string): CallEvent[] {
  const splitter = new SseSplitter();
  const grammar = new EventGrammar();
  const events = splitter.next(Buffer.from(text)).flatMap((event) => decoder.next(event));
  for (const event of events) grammar.next(event);
  return events;
}

/** Ids, of answers and of reasoning, and tiers are not the answer's own: dialects make them. */
function withoutIds({ usage, ...result }: CallResult): unknown {
  const { answerId: _, serviceTier: __, ...counts } = usage!;
  const parts = result.parts.map((part) => (part.kind === 'reasoning' ? { ...part, id: undefined } : part));
  return { ...result, parts, usage: counts };
}
