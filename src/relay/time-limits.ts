import { type MonoTypeOperatorFunction, Observable } from 'rxjs';
import type { ChannelTimeouts } from '../channels/index.js';
import { AppError } from '../shared/index.js';

/**
 * The limits of one attempt that its connection knows nothing of: a stream whose head comes but no event, and an answer
 * that goes on for ever. `heldMs`: so much longer the first event may take to get here. An operator written by hand,
 * because every call has these timers and a scheduler's cost several times as much.
 */
export function timeLimits<Value>(
  { firstEventMs, totalMs }: ChannelTimeouts,
  stream: boolean,
  heldMs: number,
): MonoTypeOperatorFunction<Value> {
  return (frames) =>
    new Observable((out) => {
      const failWith = (message: string) => (): void => out.error(new AppError('timeout', message, { failover: true }));
      const total = setTimeout(failWith('The upstream took too long over its answer.'), totalMs);
      const first = stream
        ? setTimeout(failWith('The upstream did not begin to answer in time.'), firstEventMs + heldMs)
        : undefined;
      const subscription = frames.subscribe({
        next: (frame) => {
          clearTimeout(first);
          out.next(frame);
        },
        error: (error) => out.error(error),
        complete: () => out.complete(),
      });
      return () => {
        clearTimeout(first);
        clearTimeout(total);
        subscription.unsubscribe();
      };
    });
}
