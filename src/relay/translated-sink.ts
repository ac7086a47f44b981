import type { Subscriber } from 'rxjs';
import type { CallResult, Frame, StreamDecoder } from '../protocols/contract/index.js';
import type { ResponseSink } from './response-sink.js';
import { ResponseStream } from './response-stream.js';
import { EventSignals } from './event-signals.js';
import { FoldedStream } from './folded-stream.js';
import type { LaneContext } from './lane-context.js';
import { TranslatedStream } from './translated-stream.js';
import { TranslatedWhole } from './translated-whole.js';
import type { Translation } from './translation.js';
import { WholeResponse } from './whole-response.js';

/** Takes an answer that is to be written anew. @param streamed whether it comes so; the client may want it otherwise */
export function translatedSink(
  context: LaneContext,
  translation: Translation,
  streamed: boolean,
  out: Subscriber<Frame>,
): ResponseSink {
  const { call, adapter, target, answer, losses, timings, stopsSent } = context;
  const signals = new EventSignals(translation.answerId);
  const decoder = (): StreamDecoder => translation.decoder(adapter, target, stopsSent);
  const { stream } = call.head;
  if (streamed && stream) {
    const renderer = translation.renderer(losses);
    answer.renderer = renderer;
    const estimate = translation.estimate.bind(translation);
    const meter = new TranslatedStream({ decoder: decoder(), renderer, signals, estimate });
    return new ResponseStream(out, meter, answer, timings);
  }
  const render = (result: CallResult, output: number): string => {
    const words = translation.render(result, losses, output);
    answer.warnings = losses.header;
    return words;
  };
  const whole = new WholeResponse({ out, answer, signals, stream, render });
  if (streamed) return new FoldedStream(whole, decoder(), timings.lingerMs);
  return new TranslatedWhole(whole, (body) => translation.decode(adapter, target, body, stopsSent));
}
