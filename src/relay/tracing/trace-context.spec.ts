import fc from 'fast-check';
import { headersOf, newSpanId, newTraceId, traceContextOf } from './trace-context.js';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const SPAN = '00f067aa0ba902b7';
const GOOD = `00-${TRACE}-${SPAN}-01`;

const hex = (length: number): fc.Arbitrary<string> =>
  fc
    .array(fc.constantFrom(...'0123456789abcdef'), { minLength: length, maxLength: length })
    .map((digits) => digits.join(''))
    .filter((digits) => /[^0]/.test(digits));
const stateOf = (tracestate: string): string | undefined => traceContextOf({ traceparent: GOOD, tracestate })?.state;

describe('a traceparent', () => {
  it('is parsed, and rendered for the next hop', () => {
    fc.assert(
      fc.property(hex(32), hex(16), fc.nat(255), (traceId, spanId, flags) => {
        const read = traceContextOf({ traceparent: `00-${traceId}-${spanId}-${flags.toString(16).padStart(2, '0')}` });
        expect(read).toEqual({ traceId, spanId, flags: flags & 3, state: undefined });
        expect(read && traceContextOf(headersOf(read))).toEqual(read);
      }),
    );
  });

  it.each([
    ['nothing', undefined],
    ['an empty one', ''],
    ['upper case', GOOD.toUpperCase()],
    ['a trace id of zeros', `00-${'0'.repeat(32)}-${SPAN}-01`],
    ['a parent of zeros', `00-${TRACE}-${'0'.repeat(16)}-01`],
    ['the invalid version', `ff-${TRACE}-${SPAN}-01`],
    ['more fields than version 00 allows', `${GOOD}-what`],
    ['no flags', `00-${TRACE}-${SPAN}`],
    ['an id that is too short', `00-${TRACE.slice(1)}-${SPAN}-01`],
    ['two of them', `${GOOD}, ${GOOD}`],
    ['other digits', `00-${TRACE.replace('4', 'g')}-${SPAN}-01`],
    ['a later version followed by more without a dash', `01-${TRACE}-${SPAN}-01.more`],
  ])('is ignored when it is %s', (_, traceparent) => {
    expect(traceContextOf(traceparent === undefined ? {} : { traceparent, tracestate: 'a=1' })).toBeUndefined();
  });

  it('is parsed as far as known when its version is later', () => {
    for (const later of [`cc-${TRACE}-${SPAN}-09-what-ever`, `01-${TRACE}-${SPAN}-01`])
      expect(headersOf(traceContextOf({ traceparent: later }) ?? never())).toEqual({ traceparent: GOOD });
  });

  it('never throws, whatever its content', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (traceparent, tracestate) => {
        const context = traceContextOf({ traceparent, tracestate });
        expect(context?.traceId ?? TRACE).toMatch(/^[0-9a-f]{32}$/);
      }),
    );
  });
});

describe('a tracestate', () => {
  it('is propagated unchanged, without empty entries', () => {
    expect(stateOf('rojo=00f067aa0ba902b7,congo=t61rcWkgMzE')).toBe('rojo=00f067aa0ba902b7,congo=t61rcWkgMzE');
    expect(stateOf(' rojo=1 ,, tenant@vendor=a b ')).toBe('rojo=1,tenant@vendor=a b');
  });

  it.each(['', ',', 'no value', 'Upper=1', 'a=', 'a=1,a=2', 'a=b=c', 'ü=1', 'a=\u00e9', 'a=1\nb=2', '=1'])(
    'is dropped without ending the trace when it is %j',
    (tracestate) => {
      expect(traceContextOf({ traceparent: GOOD, tracestate })).toMatchObject({ traceId: TRACE, state: undefined });
    },
  );

  it('is dropped when it has more than 32 entries', () => {
    const entries = (count: number): string => Array.from({ length: count }, (_, index) => `k${index}=v`).join(',');
    expect(stateOf(entries(32))).toBe(entries(32));
    expect(stateOf(entries(33))).toBeUndefined();
  });

  it('loses long entries first, then the oldest, when it exceeds 512 characters', () => {
    const long = `long=${'x'.repeat(200)}`;
    const short = Array.from({ length: 5 }, (_, index) => `k${index}=${'y'.repeat(100)}`);
    expect(stateOf([long, ...short.slice(0, 2)].join(','))).toBe([long, ...short.slice(0, 2)].join(','));
    expect(stateOf([long, ...short].join(','))).toBe(short.slice(0, 4).join(','));
    fc.assert(
      fc.property(fc.array(fc.nat(250), { maxLength: 32 }), (lengths) => {
        const entries = lengths.map((length, index) => `k${index}=${'z'.repeat(length + 1)}`);
        const kept = stateOf(entries.join(','))?.split(',') ?? [];
        expect(kept.join(',').length).toBeLessThanOrEqual(512);
        expect(entries).toEqual(expect.arrayContaining(kept));
      }),
    );
  });
});

it('generates random IDs', () => {
  expect(newTraceId()).toMatch(/^[0-9a-f]{32}$/);
  expect(newSpanId()).toMatch(/^[0-9a-f]{16}$/);
  expect(newSpanId()).not.toBe(newSpanId());
});

function never(): never {
  throw new Error('It was not read.');
}
