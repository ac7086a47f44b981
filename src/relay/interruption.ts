import {
  EMPTY,
  type MonoTypeOperatorFunction,
  type Observable,
  catchError,
  defer,
  firstValueFrom,
  from,
  takeUntil,
  tap,
  throwError,
} from 'rxjs';
import type { Frame } from '../call/index.js';

/** Errs as the interruption does, unless the last frame has passed: that answer is complete and only to be settled. */
export function interruptedBy(interruption: Observable<never>): MonoTypeOperatorFunction<Frame> {
  return (frames) =>
    defer(() => {
      let complete = false;
      return frames.pipe(
        tap(({ last }) => (complete ||= last)),
        takeUntil(interruption.pipe(catchError((error: unknown) => (complete ? EMPTY : throwError(() => error))))),
      );
    });
}

/** What the promise resolves with. @throws as the interruption does when that comes first */
export function unlessInterrupted<T>(promise: Promise<T>, interruption: Observable<never>): Promise<T> {
  return firstValueFrom(from(promise).pipe(takeUntil(interruption)));
}
