import { Observable, type OperatorFunction, type Subscriber } from 'rxjs';
import type { AttemptLog } from '../billing/index.js';
import type { Call, Frame, UpstreamAdapter, UpstreamHeaders } from '../call/index.js';
import type { UpstreamPart } from '../channels/index.js';
import type { Answer } from './answer.js';
import type { AnswerSink } from './answer-sink.js';
import { AnswerText } from './answer-text.js';
import { CountedEnd } from './counted-end.js';
import { KeepingMeter } from './keeping-meter.js';
import { RefusedAnswer } from './refused-answer.js';
import type { RelayTimings } from './relay-timings.js';
import type { UsageCounting } from './usage-counting.js';
import { VerbatimStream } from './verbatim-stream.js';
import { VerbatimWhole } from './verbatim-whole.js';

type Out = Subscriber<Frame>;

/** One request to an upstream, as the lane must know it. */
interface LaneContext {
  readonly call: Call;
  readonly adapter: UpstreamAdapter;
  readonly answer: Answer;
  readonly attempt: AttemptLog;
  readonly timings: RelayTimings;
  readonly counting: UsageCounting;
  /** The upstream's streams end with what they used: nothing has to be kept for a count. */
  readonly reportsUsage: boolean;
}

/**
 * The lane of a client and an upstream that speak the same dialect: bytes pass, a meter looks on. An operator written by
 * hand: it subscribes when it is subscribed to, and passes leaving on.
 */
export function verbatimLane(context: LaneContext): OperatorFunction<UpstreamPart, Frame> {
  return (parts) =>
    new Observable<Frame>((out) => {
      let sink: AnswerSink | undefined;
      const subscription = parts.subscribe({
        next: (part) => {
          if (part.type === 'chunk') sink?.chunk(part.bytes);
          else {
            context.attempt.headers(part.status);
            try {
              sink = sinkFor(context, part.status, part.headers, out);
            } catch (error) {
              out.error(error);
            }
          }
        },
        error: (error) => (sink === undefined ? out.error(error) : sink.fail(error)),
        complete: () => sink?.end(),
      });
      return () => {
        sink?.stop();
        subscription.unsubscribe();
      };
    });
}

function sinkFor(context: LaneContext, status: number, headers: UpstreamHeaders, out: Out): AnswerSink {
  const { call, adapter } = context;
  const streamed = String(headers['content-type'] ?? '').includes('text/event-stream');
  if (status < 200 || status >= 300 || streamed !== call.head.stream)
    return new RefusedAnswer(out, adapter, status, headers);
  return streamed ? streamSink(context, out) : wholeSink(context, out);
}

function streamSink({ call, adapter, answer, timings, counting, reportsUsage }: LaneContext, out: Out): AnswerSink {
  const meter = adapter.meterStream(call);
  if (reportsUsage) return new VerbatimStream(out, meter, answer, timings);
  const text = new AnswerText();
  const end = new CountedEnd(out, { call, answer, counting, places: adapter.textPlaces, text });
  return new VerbatimStream(end, new KeepingMeter(meter, adapter, text), answer, timings);
}

function wholeSink({ call, adapter, answer, counting }: LaneContext, out: Out): AnswerSink {
  const end = new CountedEnd(out, { call, answer, counting, places: adapter.textPlaces, text: undefined });
  return new VerbatimWhole(end, adapter, call, answer);
}
