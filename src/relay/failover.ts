import { Injectable } from '@nestjs/common';
import { defer, Observable, type Subscriber, type Subscription, switchMap, tap, throwError, timer } from 'rxjs';
import type { Caller } from '../keys/index.js';
import { AppError, monotonicMs } from '../platform/shared/index.js';
import { type Call, type Frame, headerOf, type TreeObject } from '../protocols/contract/index.js';
import { misfitOf, onceResolved } from './admission-control.js';
import { type Ticket, unpricedTool } from './billing/index.js';
import { Exchange } from './exchange.js';
import type { RunningCall } from './prepared-request.js';
import { RelayTimings } from './relay-timings.js';
import { NotForThisChannel } from './relay.errors.js';
import { admitsReferences, pinnedOrigin, type ResolvedReferences, ResponseStore } from './response-store.js';
import {
  type Affinity,
  affinityOf,
  type Assignment,
  type CallSelection,
  ChannelSelection,
  NoChannel,
  Random,
} from './routing/index.js';
import { TranslationService, type Translator } from './translation.service.js';

/** Max attempts per call; clients retry themselves. */
const MAX_ATTEMPTS = 4;
/** With less time left, no attempt is made. */
const MIN_MS = 100;

/** A call and its deadline. */
interface FailoverOptions {
  readonly running: RunningCall;
  readonly selection: CallSelection;
  readonly translator: Translator;
  /** Deadline for the response, monotonic. */
  readonly deadlineMs: number;
}

/** Attempts so far. */
interface FailoverState {
  /** Number of requests sent. */
  readonly attempts: number;
  /** Error of the last attempt. */
  readonly failure?: AppError;
  /** Why an available channel was not suitable. */
  readonly unfit?: AppError;
}

/** Tries channels until one responds, none is left, or time is up. */
@Injectable()
export class Failover {
  constructor(
    private readonly exchange: Exchange,
    private readonly timings: RelayTimings,
    private readonly random: Random,
  ) {}

  /**
   * Cold. Another channel is only tried before any of the response was sent. All attempts share one time limit, the
   * longest of all channels, and none begins after SDKs have timed out.
   */
  frames(running: RunningCall, selection: CallSelection, translator: Translator): Observable<Frame> {
    const deadlineMs = running.response.startedMs + selection.longestTotalMs;
    return this.attempt({ running, selection, translator, deadlineMs }, { attempts: 0 });
  }

  private attempt(options: FailoverOptions, state: FailoverState): Observable<Frame> {
    const { running, selection, translator, deadlineMs } = options;
    const draw = (): Assignment | Promise<Assignment> => selection.next();
    const use = (assignment: Assignment): Observable<Frame> => {
      const { totalMs } = assignment.channel.timeouts;
      const send = (): Observable<Frame> => {
        const leftMs = state.attempts === 0 ? totalMs : Math.min(totalMs, deadlineMs - monotonicMs());
        return this.exchange.frames(running, assignment, translator, leftMs);
      };
      const backOffMs = Math.min(this.backOffMs(state), deadlineMs - monotonicMs() - MIN_MS);
      return backOffMs > 0 ? backedOff(running.ticket, backOffMs).pipe(switchMap(send)) : send();
    };
    const isCutShort = ({ kind }: AppError): boolean =>
      kind === 'timeout' && state.attempts > 0 && this.isOver(deadlineMs);
    return assigned({ draw, use, isCutShort, recover: (thrown) => this.after(options, state, thrown) });
  }

  private after(options: FailoverOptions, state: FailoverState, thrown: unknown): Observable<Frame> {
    if (thrown instanceof NoChannel) return throwError(() => finalError(state, thrown));
    if (thrown instanceof NotForThisChannel) return this.attempt(options, { ...state, unfit: thrown.reason });
    const failure = AppError.from(thrown);
    const attempts = state.attempts + 1;
    const mayAnother = failure.details.failover === true && !options.running.response.committed;
    if (!mayAnother || attempts >= MAX_ATTEMPTS || this.isLate(options)) return throwError(() => failure);
    return this.attempt(options, { ...state, attempts, failure });
  }

  private isLate({ running, deadlineMs }: FailoverOptions): boolean {
    const lastMs = running.response.startedMs + this.timings.lastAttemptMs;
    return this.isOver(Math.min(lastMs, deadlineMs));
  }

  private isOver(timeMs: number): boolean {
    return timeMs - monotonicMs() < MIN_MS;
  }

  /** Exponential backoff with full jitter. Rate limits and bad credentials need no backoff on another channel. */
  private backOffMs({ attempts, failure }: FailoverState): number {
    if (failure === undefined || failure.kind === 'rate_limit_exceeded' || failure.kind === 'upstream_auth') return 0;
    const { backOffMs, maxBackOffMs } = this.timings;
    return Math.floor(this.random.next() * Math.min(backOffMs * 2 ** (attempts - 1), maxBackOffMs));
  }
}

/** Waits before another attempt, recording the wait in the call. */
const backedOff = ({ waits }: Ticket, ms: number): Observable<unknown> =>
  defer(() => {
    waits.begin('back_off');
    return timer(ms).pipe(tap(() => waits.end('back_off')));
  });

/** A failed or cooling channel may succeed on a retry; an unsuitable one will not. */
function finalError({ failure, unfit }: FailoverState, noChannel: NoChannel): AppError {
  if (failure !== undefined) return failure;
  return noChannel.isExhausted && unfit !== undefined ? unfit : noChannel;
}

interface AttemptSteps {
  /** The channel to use. */
  readonly draw: () => Assignment | Promise<Assignment>;
  readonly use: (assignment: Assignment) => Observable<Frame>;
  /**
   * Whether an attempt was cut short by something other than its own limits, so that the delay says nothing about the
   * upstream.
   */
  readonly isCutShort: (error: AppError) => boolean;
  /** The step after a failure. */
  readonly recover: (thrown: unknown) => Observable<Frame>;
}

/**
 * Uses the channel that is drawn on subscription. Reports the result to channel health and releases the channel in any
 * case. A hand-written operator, as every frame of a call passes it.
 */
function assigned({ draw, use, isCutShort, recover }: AttemptSteps): Observable<Frame> {
  return new Observable((out) => {
    let assignment: Assignment | undefined;
    let subscription: Subscription | undefined;
    const fail = (thrown: unknown): void => {
      if (!out.closed) recover(thrown).subscribe(out);
    };
    const begin = (drawn: Assignment): void => {
      // Unsubscribed before the channel was known.
      if (out.closed) return drawn.release();
      assignment = drawn;
      subscription = use(drawn).subscribe(observerFor(drawn, out, isCutShort, fail));
    };
    try {
      const drawn = draw();
      if (drawn instanceof Promise) drawn.then(begin).catch(fail);
      else begin(drawn);
    } catch (error) {
      fail(error);
    }
    return () => {
      subscription?.unsubscribe();
      assignment?.release();
    };
  });
}

function observerFor(
  assignment: Assignment,
  out: Subscriber<Frame>,
  isCutShort: AttemptSteps['isCutShort'],
  fail: (thrown: unknown) => void,
) {
  let awaitsContent = assignment.isProbe;
  return {
    next: (frame: Frame): void => {
      if (frame.last) assignment.succeeded();
      else if (awaitsContent && frame.signals.some(({ type }) => type === 'content')) {
        awaitsContent = false;
        assignment.started();
      }
      out.next(frame);
    },
    error: (thrown: unknown): void => {
      const error = AppError.from(thrown);
      if (!isCutShort(error)) assignment.failed(error);
      assignment.release();
      fail(thrown);
    },
    complete: (): void => out.complete(),
  };
}

/** Serves an admitted call: resolves references to earlier responses and selects channels. */
@Injectable()
export class Attempts {
  constructor(
    private readonly channels: ChannelSelection,
    private readonly failover: Failover,
    private readonly translations: TranslationService,
    private readonly responses: ResponseStore,
  ) {}

  /** Cold. */
  frames(running: RunningCall): Observable<Frame> {
    return defer(() => {
      const { call } = running.ticket;
      let tree: TreeObject | undefined;
      const request = (): TreeObject => (tree ??= this.translations.read(call));
      const resolving = this.responses.resolve(call, running.admission.plan.caller, request);
      if (resolving === undefined) return this.serve(running, request);
      return onceResolved(resolving, (references) => this.serve(running, request, references));
    });
  }

  private serve(
    running: RunningCall,
    request: () => TreeObject,
    references: ResolvedReferences = {},
  ): Observable<Frame> {
    const { previous, state } = references;
    const { ticket, admission, responseAdapter, sockets } = running;
    const { call } = ticket;
    const { group, model, caller, namedModels } = admission.plan;
    const unpriced = unpricedTool(call.head, [model, ...(namedModels?.values() ?? [])]);
    const selection = this.channels.for({
      group: group.name,
      model: model.name,
      protocol: call.protocol,
      affinity: affinityOfCall(call, caller),
      accountId: caller.accountId,
      admits: (channel) => admitsReferences(references, channel) && misfitOf(channel, call, unpriced) === undefined,
      pinned: pinnedOrigin(references),
      preferred: previous?.origin ?? sockets?.origin,
    });
    const storesInput = this.responses.stores({ call, caller, responseAdapter });
    const translatable = { call, responseAdapter, caller, request, previous, storesInput };
    const frames = this.failover.frames(running, selection, this.translations.translator(translatable));
    if (!selection.isEmpty) return frames;
    const refused = defer(() => {
      // A disabled or unsuitable channel still has its state: the client may retry later.
      const mayReturn = state?.isKnown === true && this.channels.has(state.pinned?.channelId ?? '');
      if (state !== undefined && !mayReturn) throw state.refusal;
      return frames;
    });
    if (previous?.isKnown !== false) return refused;
    // Names the unknown reference.
    return onceResolved(this.translations.requireReferenced(translatable), () => refused);
  }
}

/** Headers that identify a conversation, most specific first. */
const SESSION_HEADERS = [
  'x-claude-code-session-id',
  'session-id',
  'thread-id',
  'x-session-id',
  'x-conversation-id',
  'session_id',
  'conversation_id',
] as const;
/** Longer values are truncated. */
const MAX_LENGTH = 256;

/**
 * A key that keeps the calls of a conversation on one channel, whose prompt cache knows the beginning; undefined if the
 * client sends nothing suitable. Cache keys take precedence over sessions, sessions over users. Scoped to the account,
 * because clients choose these values.
 */
export function affinityOfCall(
  { head, request }: Call,
  { accountId }: Pick<Caller, 'accountId'>,
): Affinity | undefined {
  const name = head.affinity?.cache ?? sessionIn(request) ?? head.affinity?.user;
  return name === undefined ? undefined : affinityOf(accountId, name.slice(0, MAX_LENGTH));
}

function sessionIn(request: Call['request']): string | undefined {
  for (const name of SESSION_HEADERS) {
    const value = headerOf(request, name);
    if (value !== undefined) return value;
  }
  return undefined;
}
