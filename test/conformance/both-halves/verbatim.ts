import type { Call, CallSignal, TokenUsage, VerbatimLane } from '../../../src/protocols/contract/index.js';
import { aCall, metered, refusalOf } from '../../support/calls.js';
import { encodeEvent, encodeEvents, type JsonObject, type ScriptedEvent } from '../../support/scripted-steps.js';
import { itUnless } from '../abilities.js';
import { ANSWERED_CALLS, USAGE } from '../examples.js';
import type { ProtocolUnderTest } from './protocol-under-test.js';
import { bodyOf, lineOf } from '../client-half/client-calls.js';
import { target } from './conversions.js';

const NOT_WRITTEN = 'the protocol’s own calls are translated as all others are';
const COUNTED = { ...USAGE, cacheRead: 400, reasoning: 90 };

/** Calls of the protocol's own clients are passed verbatim and charged. */
export function describeVerbatim(underTest: ProtocolUnderTest): void {
  const { vendor, upstream } = underTest;
  const { verbatim: lane } = upstream;
  const reason = lane === undefined ? NOT_WRITTEN : undefined;
  const readings = (call: Call, text: string) => metered((lane as VerbatimLane).meterStream(call), text);
  const streamOf = (call: Call) =>
    vendor.events({ text: ['one ', 'two'], usage: COUNTED }, JSON.parse(call.body.bytes.toString()) as JsonObject);

  const neededIn = (events: readonly ScriptedEvent[]): number =>
    events.findIndex((event) => vendor.closes.test(encodeEvent(event).toString()));

  for (const stream of [false, true]) {
    itUnless(reason, `only changes the model: ${stream ? 'streamed' : 'unstreamed'} (cases 1, 2 and 5)`, () => {
      const call = callOf(underTest, stream);
      const { path, body } = (lane as VerbatimLane).rewriteRequest(call, {
        ...target(underTest, stream),
        model: 'vendor-model',
      });
      const sent = Buffer.concat(body.pieces()).toString();
      expect(sent).toBe(call.body.bytes.toString().replace('"model":"m"', '"model":"vendor-model"'));
      if (underTest.client.address !== undefined) expect(path).toContain('vendor-model');
    });
  }

  itUnless(reason, 'meters a stream and recognizes its last event', () => {
    const call = callOf(underTest, true);
    const events = streamOf(call);
    const { signals, readings: read } = readings(call, encodeEvents(events).toString());
    expect(usageIn(signals)).toMatchObject({ input: 1000, cacheRead: 400, output: 200, reasoning: 90 });
    // A marker may follow the required events.
    expect(read.findIndex(({ last }) => last)).toBeGreaterThanOrEqual(neededIn(events));
    expect(read.at(-1)?.last).toBe(true);
  });

  itUnless(reason, 'meters an unstreamed response', () => {
    const call = callOf(underTest, false);
    const body = Buffer.from(JSON.stringify(vendor.body({ text: 'one two', usage: COUNTED })));
    const signals = (lane as VerbatimLane).meterResponse(call, body);
    expect(usageIn(signals)).toMatchObject({ input: 1000, cacheRead: 400, output: 200, reasoning: 90 });
  });

  itUnless(reason, 'reports a truncated stream (case 40)', () => {
    const call = callOf(underTest, true);
    const events = streamOf(call);
    const meter = (lane as VerbatimLane).meterStream(call);
    metered(meter, encodeEvents(events.slice(0, neededIn(events))).toString());
    expect(refusalOf(() => meter.end())).toMatchObject({ kind: 'upstream_truncated' });
  });

  itUnless(reason, 'throws on an error in a stream (case 98)', () => {
    const call = callOf(underTest, true);
    const broken = [...streamOf(call).slice(0, 2), ...vendor.errorEvents('Boom.', 2)];
    expect(refusalOf(() => readings(call, encodeEvents(broken).toString())).kind).toBe('upstream_error');
  });
}

/** With unknown members, and a number that is not representable as a double. */
function callOf(underTest: ProtocolUnderTest, stream: boolean): Call {
  const request = bodyOf(underTest, { ...ANSWERED_CALLS, system: 'Be brief.' }, stream);
  const unknown = '"x_unknown": {"n":9007199254740993, "10":1.0,"2":[ ]}';
  return aCall(underTest.protocol, `${request.slice(0, -1)}, ${unknown}}`, lineOf(underTest, stream));
}

function usageIn(signals: readonly CallSignal[]): TokenUsage | undefined {
  return signals.flatMap((signal) => (signal.type === 'usage' ? [signal.usage] : [])).at(-1);
}
