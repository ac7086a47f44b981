import { Observable, type Subscriber, type Subscription } from 'rxjs';
import type { Frame } from '../protocols/contract/index.js';
import type { Assignment } from './routing/index.js';
import { AppError } from '../platform/shared/index.js';

/** An attempt was cut short by something else than its own limits, so that being late says nothing of its upstream. */
type IsCutShort = (error: AppError) => boolean;

/**
 * The frames that `use` makes with whichever channel is drawn when this is subscribed to. What comes of it is told to
 * whoever watches over the channel, and the channel is given back, however this ends. An operator written by hand, as
 * every call has one.
 */
export function assigned(
  draw: () => Assignment | Promise<Assignment>,
  use: (assignment: Assignment) => Observable<Frame>,
  isCutShort: IsCutShort,
): Observable<Frame> {
  return new Observable((out) => {
    let assignment: Assignment | undefined;
    let subscription: Subscription | undefined;
    const begin = (drawn: Assignment): void => {
      // Nobody listened any more before it was found out who may be asked.
      if (out.closed) return drawn.release();
      assignment = drawn;
      subscription = use(drawn).subscribe(watched(drawn, out, isCutShort));
    };
    try {
      const drawn = draw();
      if (drawn instanceof Promise) drawn.then(begin).catch((error: unknown) => out.error(error));
      else begin(drawn);
    } catch (error) {
      out.error(error);
    }
    return () => {
      subscription?.unsubscribe();
      assignment?.release();
    };
  });
}

function watched(assignment: Assignment, out: Subscriber<Frame>, isCutShort: IsCutShort) {
  let isWaited = assignment.isProbe;
  return {
    next: (frame: Frame): void => {
      if (frame.last) assignment.succeeded();
      else if (isWaited && frame.signals.some(({ type }) => type === 'content')) {
        isWaited = false;
        assignment.answered();
      }
      out.next(frame);
    },
    error: (thrown: unknown): void => {
      const error = AppError.from(thrown);
      if (!isCutShort(error)) assignment.failed(error);
      assignment.release();
      out.error(thrown);
    },
    complete: (): void => out.complete(),
  };
}
