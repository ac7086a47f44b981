import { Observable, type OperatorFunction, type Subscriber } from 'rxjs';
import type { AttemptLog } from '../billing/index.js';
import type { Call, Frame, UpstreamAdapter, UpstreamHeaders } from '../call/index.js';
import type { UpstreamPart } from '../channels/index.js';
import type { Answer } from './answer.js';
import type { AnswerSink } from './answer-sink.js';
import { RefusedAnswer } from './refused-answer.js';
import type { RelayTimings } from './relay-timings.js';
import { VerbatimStream } from './verbatim-stream.js';
import { VerbatimWhole } from './verbatim-whole.js';

/** One request to an upstream, as the lane must know it. */
interface LaneContext {
  readonly call: Call;
  readonly adapter: UpstreamAdapter;
  readonly answer: Answer;
  readonly attempt: AttemptLog;
  readonly timings: RelayTimings;
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

function sinkFor(
  { call, adapter, answer, timings }: LaneContext,
  status: number,
  headers: UpstreamHeaders,
  out: Subscriber<Frame>,
): AnswerSink {
  const streamed = String(headers['content-type'] ?? '').includes('text/event-stream');
  if (status < 200 || status >= 300 || streamed !== call.head.stream)
    return new RefusedAnswer(out, adapter, status, headers);
  return streamed
    ? new VerbatimStream(out, adapter.meterStream(call), answer, timings)
    : new VerbatimWhole(out, adapter, call, answer);
}
