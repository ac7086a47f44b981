import { Observable, type OperatorFunction, type Subscriber } from 'rxjs';
import type { Frame, UpstreamHeaders } from '../protocols/contract/index.js';
import type { UpstreamPart } from './upstream/upstream-client.js';
import type { ResponseSink } from './response-sink.js';
import { ResponseStream } from './response-stream.js';
import type { LaneContext } from './lane-context.js';
import { RefusedResponse } from './refused-response.js';
import { translatedSink } from './translated-sink.js';
import { upstreamRequestId } from './upstream-request-id.js';
import { VerbatimWhole } from './verbatim-whole.js';

type Out = Subscriber<Frame>;

/**
 * The way of an answer from one upstream to its client. In the verbatim lane both speak the same dialect: bytes pass, a
 * meter looks on. In the translated lane it is read and written anew; so it is when it comes streamed to a client that
 * wants it whole, or the other way round. An operator written by hand: it subscribes when it is subscribed to, and passes
 * leaving on.
 */
export function lane(context: LaneContext): OperatorFunction<UpstreamPart, Frame> {
  return (parts) =>
    new Observable<Frame>((out) => {
      const { attempt } = context;
      let sink: ResponseSink | undefined;
      const subscription = parts.subscribe({
        next: (part) => {
          switch (part.type) {
            case 'connected':
              return attempt.connected();
            case 'sent':
              return attempt.sent();
            case 'chunk':
              attempt.firstByte();
              return sink?.chunk(part.bytes);
            case 'head':
              attempt.headers(part.status, upstreamRequestId(part.headers));
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

function sinkFor(context: LaneContext, status: number, headers: UpstreamHeaders, out: Out): ResponseSink {
  const { call, adapter, translator, answer, timings } = context;
  const { verbatim } = adapter;
  const form = formOf(headers);
  const refused = (): ResponseSink => new RefusedResponse(out, adapter, status, headers, timings.refusalMs);
  if (status < 200 || status >= 300 || form === 'other') return refused();
  const streamed = form === 'stream';
  const isAsAsked = streamed === call.head.stream;
  if (context.translation === undefined && isAsAsked && verbatim !== undefined)
    return streamed
      ? new ResponseStream(out, verbatim.meterStream(call), answer, timings)
      : new VerbatimWhole(out, verbatim, call, answer);
  const translation = context.translation ?? translator.ofAnswer();
  return translation === undefined ? refused() : translatedSink(context, translation, streamed, out);
}

/** A server that does not say what it sends sends JSON. */
function formOf(headers: UpstreamHeaders): 'stream' | 'json' | 'other' {
  const type = String(headers['content-type'] ?? 'json');
  return type.includes('text/event-stream') ? 'stream' : type.includes('json') ? 'json' : 'other';
}
