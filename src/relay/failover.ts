import { Injectable } from '@nestjs/common';
import {
  catchError,
  defer,
  Observable,
  type Subscriber,
  type Subscription,
  switchMap,
  tap,
  throwError,
  timer,
} from 'rxjs';
import { AppError, monotonicMs } from '../platform/shared/index.js';
import type { Frame } from '../protocols/contract/index.js';
import type { Ticket } from './billing/index.js';
import { Exchange } from './exchange.js';
import { NotForThisChannel, type RunningCall } from './prepared-request.js';
import { RelayTimings } from './relay-timings.js';
import { type Assignment, type CallSelection, NoChannel, Random } from './routing/index.js';
import type { Translator } from './translations.js';

/** More upstreams than this are not asked for one call: clients try again themselves. */
const MAX_ATTEMPTS = 4;
/** In less time nobody answers, in ms: then it counts as over. */
const MIN_MS = 100;

/** A call on its way to an answer. */
interface FailoverOptions {
  readonly running: RunningCall;
  readonly selection: CallSelection;
  readonly translator: Translator;
  /** When the call must have its answer, by the monotonic clock. */
  readonly deadlineMs: number;
}

/** What has been tried so far. */
interface FailoverState {
  /** Requests that upstreams have been sent. */
  readonly asked: number;
  /** Why the last of them did not answer. */
  readonly failure?: AppError;
  /** Why a channel was not asked though it is there. */
  readonly unfit?: AppError;
}

/** Asks one upstream after the other, until one answers, nobody is left, or it is too late. */
@Injectable()
export class Failover {
  constructor(
    private readonly exchange: Exchange,
    private readonly timings: RelayTimings,
    private readonly random: Random,
  ) {}

  /**
   * Cold. Another upstream is asked only while nothing of an answer has been let go. All of it has one limit of time, that
   * of the most patient of the channels, and no request begins when SDKs have given up waiting.
   */
  frames(running: RunningCall, selection: CallSelection, translator: Translator): Observable<Frame> {
    const deadlineMs = running.answer.startedMs + selection.longestTotalMs;
    return this.attempt({ running, selection, translator, deadlineMs }, { asked: 0 });
  }

  private attempt(course: FailoverOptions, past: FailoverState): Observable<Frame> {
    const { running, selection, translator, deadlineMs } = course;
    const draw = (): Assignment | Promise<Assignment> => selection.next();
    const use = (assignment: Assignment): Observable<Frame> => {
      const { totalMs } = assignment.channel.timeouts;
      const ask = (): Observable<Frame> => {
        const leftMs = past.asked === 0 ? totalMs : Math.min(totalMs, deadlineMs - monotonicMs());
        return this.exchange.frames(running, assignment, translator, leftMs);
      };
      const backOffMs = Math.min(this.backOffMs(past), deadlineMs - monotonicMs() - MIN_MS);
      return backOffMs > 0 ? backedOff(running.ticket, backOffMs).pipe(switchMap(ask)) : ask();
    };
    const isCutShort = ({ kind }: AppError): boolean => kind === 'timeout' && past.asked > 0 && this.isOver(deadlineMs);
    return assigned(draw, use, isCutShort).pipe(catchError((thrown: unknown) => this.after(course, past, thrown)));
  }

  private after(course: FailoverOptions, past: FailoverState, thrown: unknown): Observable<Frame> {
    if (thrown instanceof NoChannel) return throwError(() => whatToSay(past, thrown));
    if (thrown instanceof NotForThisChannel) return this.attempt(course, { ...past, unfit: thrown.reason });
    const failure = AppError.from(thrown);
    const asked = past.asked + 1;
    const mayAnother = failure.details.failover === true && !course.running.answer.committed;
    if (!mayAnother || asked >= MAX_ATTEMPTS || this.isLate(course)) return throwError(() => failure);
    return this.attempt(course, { ...past, asked, failure });
  }

  private isLate({ running, deadlineMs }: FailoverOptions): boolean {
    const lastMs = running.answer.startedMs + this.timings.lastAttemptMs;
    return this.isOver(Math.min(lastMs, deadlineMs));
  }

  private isOver(timeMs: number): boolean {
    return timeMs - monotonicMs() < MIN_MS;
  }

  /** Full jitter. What a rate limit or a bad credential refused at once, another one can answer at once. */
  private backOffMs({ asked, failure }: FailoverState): number {
    if (failure === undefined || failure.kind === 'rate_limit_exceeded' || failure.kind === 'upstream_auth') return 0;
    const { backOffMs, longestBackOffMs } = this.timings;
    return Math.floor(this.random.next() * Math.min(backOffMs * 2 ** (asked - 1), longestBackOffMs));
  }
}

/** A moment for an upstream that may be itself again in it. Noted until it is over, or the call has ended within it. */
const backedOff = ({ waits }: Ticket, ms: number): Observable<unknown> =>
  defer(() => {
    waits.begin('back_off');
    return timer(ms).pipe(tap(() => waits.end('back_off')));
  });

/** One that was asked and failed, or one that rests, may answer when the client tries again; one that is unfit will not. */
function whatToSay({ failure, unfit }: FailoverState, none: NoChannel): AppError {
  if (failure !== undefined) return failure;
  return none.isExhausted && unfit !== undefined ? unfit : none;
}

/** An attempt was cut short by something else than its own limits, so that being late says nothing of its upstream. */
type IsCutShort = (error: AppError) => boolean;

/**
 * The frames that `use` makes with whichever channel is drawn when this is subscribed to. What comes of it is told to
 * whoever watches over the channel, and the channel is given back, however this ends. An operator written by hand, as
 * every call has one.
 */
function assigned(
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
