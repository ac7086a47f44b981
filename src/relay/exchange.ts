import { Injectable } from '@nestjs/common';
import { catchError, defer, isObservable, type Observable, switchMap, throwError, timeout } from 'rxjs';
import type { Channel, ChannelTimeouts } from '../catalog/channels/index.js';
import { AppError, monotonicMs, recordedMessage } from '../platform/shared/index.js';
import {
  type FinishedCompaction,
  type Flow,
  type Frame,
  passUsage,
  type UpstreamAdapter,
  UpstreamRefusal,
  type UpstreamRequest,
} from '../protocols/contract/index.js';
import { AdapterRegistry } from './adapter.registry.js';
import type { AttemptLog, AttemptTarget, Ticket } from './billing/index.js';
import type { ReplyState } from './call-context.js';
import { compactedFirst } from './compaction-pass.js';
import { lane, type LaneOutlet } from './lane.js';
import {
  type PreparedRequest,
  prepareMessages,
  prepareRequest,
  type RunningCall,
  translateRequest,
} from './prepared-request.js';
import { RelayTimings } from './relay-timings.js';
import { TranslationTooSlow } from './relay.errors.js';
import { ResponseStore } from './response-store.js';
import type { FrameOutlet } from './response-stream.js';
import type { Assignment } from './routing/index.js';
import type { CallTranslation } from './call-translation.js';
import type { Translator } from './translation.service.js';
import { NO_RESPONSE_IN_TIME, UpstreamClient, type UpstreamPart } from './upstream/upstream-client.js';
import { SocketLost } from './upstream/upstream-socket.js';

/** One request to one upstream. */
interface AttemptContext {
  readonly running: RunningCall;
  readonly assignment: Assignment;
  readonly adapter: UpstreamAdapter;
  readonly translator: Translator;
  readonly totalMs: number;
  /** Set if the conversation was compacted by the previous request. */
  readonly finished: FinishedCompaction | undefined;
}

/** Sends a request to an upstream and processes its response. */
@Injectable()
export class Exchange {
  constructor(
    private readonly adapters: AdapterRegistry,
    private readonly client: UpstreamClient,
    private readonly timings: RelayTimings,
    private readonly responses: ResponseStore,
  ) {}

  /**
   * Cold.
   * @param translator reads the request if the upstream's protocol or response form differs
   * @param totalMs time limit
   */
  frames(running: RunningCall, assignment: Assignment, translator: Translator, totalMs: number): Observable<Frame> {
    return defer(() => {
      const adapter = this.adapters.upstreamAdapter(assignment.channel.protocol);
      const begunMs = monotonicMs();
      const leftMs = (): number => Math.max(1, totalMs - (monotonicMs() - begunMs));
      const ask = (ready: PreparedRequest, finished?: FinishedCompaction): Observable<Frame> => {
        const context = { running, assignment, adapter, translator, totalMs: leftMs(), finished };
        if (ready.translation?.compaction !== 'first') return this.ask(ready, context);
        const goOn = (done: FinishedCompaction): Observable<Frame> =>
          whenPrepared(translateRequest(ready.target, adapter, translator, done), leftMs(), (next) => ask(next, done));
        return compactedFirst(this.ask(ready, context), ready.translation, goOn);
      };
      const send = (ways: readonly Preparation[]): Observable<Frame> => {
        const [prepare = overHttp, ...others] = ways;
        const frames = whenPrepared(prepare(), leftMs(), ask);
        if (prepare === overHttp) return frames;
        return frames.pipe(
          catchError((error: unknown) => {
            if (running.response.committed) throw error;
            if (error instanceof SocketLost) return send([overHttp]);
            if (others.length > 1 && isForgotten(error)) return send(others);
            throw error;
          }),
        );
      };
      const overHttp = (): ReturnType<Preparation> => prepareRequest(running, assignment.channel, adapter, translator);
      return send([...prepareMessages(running, assignment, adapter, translator), overHttp]);
    });
  }

  private ask(
    prepared: PreparedRequest,
    { running, assignment, adapter, translator, totalMs, finished }: AttemptContext,
  ): Observable<Frame> {
    const { ticket, response } = running;
    const { channel } = assignment;
    const { call } = ticket;
    const { target, request, translation, warnings, stopsSent } = prepared;
    // Also clears the warnings of a failed attempt.
    response.warnings = warnings.header;
    const attempt = ticket.beginAttempt(
      {
        ...attemptTarget(assignment, running.admission.plan.model.name, target.model),
        transport: prepared.socket === undefined ? 'http' : 'websocket',
        isTierLeftOut: warnings.has('unsupported_parameter', 'service_tier'),
      },
      finished && passUsage(finished),
    );
    response.begin();
    const limits = timeLimits({ ...channel.timeouts, totalMs }, target.stream, this.timings.preludeMs);
    const context = {
      call,
      adapter,
      target,
      response,
      attempt,
      translation,
      translator,
      warnings: warnings.forResponse(),
      stopsSent,
      timings: this.timings,
    };
    const frames = this.open(
      { ...prepared, request: traced(request, ticket, channel, adapter) },
      running,
      assignment,
    ).pipe(lane(context, (out) => new AttemptWatch(out, attempt, response, limits)));
    return translation?.compaction === 'first' ? frames : this.storing(frames, running, assignment, translation);
  }

  private open(
    { request, socket }: PreparedRequest,
    { response, sockets }: RunningCall,
    assignment: Assignment,
  ): Observable<UpstreamPart> {
    const { channel, credential } = assignment;
    if (socket !== undefined && sockets !== undefined)
      return sockets.exchange(assignment, request, socket, response.flow);
    return this.client.open(channel, credential, request, response.flow);
  }

  private storing(
    frames: Observable<Frame>,
    { ticket: { call }, admission, responseAdapter }: RunningCall,
    { channel, credential }: Assignment,
    translation: CallTranslation | undefined,
  ): Observable<Frame> {
    const { caller } = admission.plan;
    const origin = { channelId: channel.id, credentialId: credential?.id ?? null };
    return this.responses.storing(frames, { call, caller, responseAdapter, origin, input: translation?.input });
  }
}

type Preparation = () => PreparedRequest | Observable<PreparedRequest>;

/** The upstream does not keep the previous response any more. */
const isForgotten = (error: unknown): boolean =>
  error instanceof UpstreamRefusal && error.code === 'previous_response_not_found';

function whenPrepared(
  prepared: PreparedRequest | Observable<PreparedRequest>,
  limitMs: number,
  use: (ready: PreparedRequest) => Observable<Frame>,
): Observable<Frame> {
  if (!isObservable(prepared)) return use(prepared);
  return prepared.pipe(
    timeout({ first: limitMs, with: () => throwError(() => new TranslationTooSlow()) }),
    switchMap((ready) => use(ready)),
  );
}

function attemptTarget({ channel, credential }: Assignment, model: string, sentModel: string): AttemptTarget {
  const { name, protocol, credentials, costs } = channel;
  const ordinal = credential === undefined ? null : credentials.indexOf(credential) + 1;
  return {
    channel: name,
    protocol,
    upstreamModel: sentModel,
    credential: ordinal,
    cost: costs.get(model),
    offers: channel,
  };
}

/** Time limits of an attempt beyond those of its connection, in ms. */
interface TimeLimits {
  /** From the start of the attempt to the first event of a stream; undefined if not streamed. */
  readonly firstMs: number | undefined;
  /** For the whole response. */
  readonly totalMs: number;
}

/** @param preludeMs extra time for the first event, in which frames may be kept back */
const timeLimits = ({ firstEventMs, totalMs }: ChannelTimeouts, stream: boolean, preludeMs: number): TimeLimits => ({
  firstMs: stream ? firstEventMs + preludeMs : undefined,
  totalMs,
});

/**
 * Enforces time limits and records the attempt's progress. With timers of its own: every call has them, and a
 * scheduler's would cost several times as much.
 */
class AttemptWatch implements LaneOutlet {
  private readonly begunMs = monotonicMs();
  private readonly total: PausableTimeout;
  private readonly first: PausableTimeout | undefined;
  private isSilent = true;
  private isOver = false;

  constructor(
    private readonly out: FrameOutlet,
    private readonly attempt: AttemptLog,
    private readonly response: ReplyState,
    { firstMs, totalMs }: TimeLimits,
  ) {
    const { flow } = response;
    this.total = new PausableTimeout(flow, totalMs, () => this.late('The upstream response timed out.'));
    if (firstMs !== undefined) this.first = new PausableTimeout(flow, firstMs, () => this.late(NO_RESPONSE_IN_TIME));
  }

  next(frame: Frame): void {
    if (this.isOver) return;
    this.first?.end();
    if (frame.bytes.length > 0) this.response.timing.upstreamMs ??= monotonicMs() - this.begunMs;
    if (this.isSilent && frame.signals.some(({ type }) => type === 'content')) {
      this.isSilent = false;
      this.attempt.firstToken();
    }
    if (frame.last) {
      this.total.end();
      this.attempt.finish('succeeded');
    }
    this.out.next(frame);
  }

  error(thrown: unknown): void {
    if (this.isOver) return;
    this.isOver = true;
    const error = AppError.from(thrown);
    this.attempt.finish(error.kind, recordedMessage(error));
    this.out.error(thrown);
  }

  complete(): void {
    if (!this.isOver) this.out.complete();
  }

  stop(): void {
    this.isOver = true;
    this.first?.end();
    this.total.end();
  }

  private late(message: string): void {
    this.error(new AppError('timeout', message, { failover: true }));
  }
}

/** Interval for checking whether a paused response has resumed. */
const LOOK_AGAIN_MS = 100;

/** A timeout that stands still while the upstream is not being read. */
class PausableTimeout {
  private readonly endMs: number;
  private timer: NodeJS.Timeout;

  constructor(
    private readonly flow: Flow,
    limitMs: number,
    private readonly onOver: () => void,
  ) {
    this.endMs = monotonicMs() + limitMs - flow.pausedMs;
    this.timer = setTimeout(() => this.look(), limitMs);
  }

  /** Cancels it. */
  end(): void {
    clearTimeout(this.timer);
  }

  private look(): void {
    const leftMs = this.endMs + this.flow.pausedMs - monotonicMs();
    // Timers may fire slightly early.
    if (leftMs < 1 && !this.flow.paused) return this.onOver();
    this.timer = setTimeout(() => this.look(), this.flow.paused ? Math.max(leftMs, LOOK_AGAIN_MS) : leftMs);
  }
}

const HEADERS = ['traceparent', 'tracestate'];

/** Adds trace headers, unless the channel sets them itself. */
function traced(
  request: UpstreamRequest,
  { call, attempts }: Ticket,
  channel: Channel,
  { provider }: UpstreamAdapter,
): UpstreamRequest {
  if (call.trace === undefined) return request;
  const headers = call.trace.attempt(attempts.length, { baseUrl: channel.baseUrl, provider });
  const isSet = HEADERS.some((name) => name in channel.headers);
  return isSet ? request : { ...request, headers: { ...request.headers, ...headers } };
}
