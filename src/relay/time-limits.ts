import { type MonoTypeOperatorFunction, identity, map, takeUntil, throwError, timeout, timer } from 'rxjs';
import type { ChannelTimeouts } from '../channels/index.js';
import { AppError } from '../shared/index.js';

/**
 * The limits of one attempt that its connection knows nothing of: a stream whose head comes but no event, and an answer
 * that goes on for ever. `heldMs`: so much longer the first event may take to get here.
 */
export function timeLimits<Value>(
  { firstEventMs, totalMs }: ChannelTimeouts,
  stream: boolean,
  heldMs: number,
): MonoTypeOperatorFunction<Value> {
  const late = (): AppError =>
    new AppError('timeout', 'The upstream did not begin to answer in time.', { failover: true });
  const endless = (): never => {
    throw new AppError('timeout', 'The upstream took too long over its answer.', { failover: true });
  };
  return (frames) =>
    frames.pipe(
      stream ? timeout({ first: firstEventMs + heldMs, with: () => throwError(late) }) : identity,
      takeUntil(timer(totalMs).pipe(map(endless))),
    );
}
