import { type MonoTypeOperatorFunction, Observable } from 'rxjs';
import type { AttemptLog } from './billing/index.js';
import type { Frame } from '../protocols/contract/index.js';
import type { ChannelTimeouts } from '../catalog/channels/index.js';
import { AppError, monotonicMs, recordedMessage } from '../platform/shared/index.js';
import type { CallContext } from './call-context.js';
import { PausableTimeout } from './pausable-timeout.js';

/** The limits of one attempt that its connection knows nothing of, in milliseconds. */
interface TimeLimits {
  /** A stream whose head comes but no event; undefined when it is no stream. */
  readonly firstMs: number | undefined;
  /** An answer that goes on for ever. */
  readonly totalMs: number;
}

interface Watched {
  readonly attempt: AttemptLog;
  readonly answer: CallContext;
}

/** `heldMs`: so much longer the first event may take to get here. */
export const timeLimits = (
  { firstEventMs, totalMs }: ChannelTimeouts,
  stream: boolean,
  heldMs: number,
): TimeLimits => ({ firstMs: stream ? firstEventMs + heldMs : undefined, totalMs });

/**
 * Keeps an attempt within its limits of time and its record up to date. An operator written by hand: every call has these
 * timers, and a scheduler's cost several times as much.
 */
export function watchAttempt({
  attempt,
  answer,
  firstMs,
  totalMs,
}: TimeLimits & Watched): MonoTypeOperatorFunction<Frame> {
  return (frames) =>
    new Observable((out) => {
      const begunMs = monotonicMs();
      let isSilent = true;
      const fail = (thrown: unknown): void => {
        const error = AppError.from(thrown);
        attempt.finish(error.kind, recordedMessage(error));
        out.error(thrown);
      };
      const late = (message: string) => (): void => fail(new AppError('timeout', message, { failover: true }));
      const total = new PausableTimeout(answer.flow, totalMs, late('The upstream response timed out.'));
      const first =
        firstMs === undefined
          ? undefined
          : new PausableTimeout(answer.flow, firstMs, late('The upstream did not start to respond in time.'));
      const subscription = frames.subscribe({
        next: (frame) => {
          first?.end();
          if (frame.bytes.length > 0) answer.timing.upstreamMs ??= monotonicMs() - begunMs;
          if (isSilent && frame.signals.some(({ type }) => type === 'content')) {
            isSilent = false;
            attempt.firstToken();
          }
          if (frame.last) {
            total.end();
            attempt.finish('succeeded');
          }
          out.next(frame);
        },
        error: fail,
        complete: () => out.complete(),
      });
      return () => {
        first?.end();
        total.end();
        subscription.unsubscribe();
      };
    });
}
