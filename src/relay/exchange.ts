import { Injectable } from '@nestjs/common';
import { catchError, defer, isObservable, map, type Observable, switchMap, throwError, timeout } from 'rxjs';
import { type Channel, type ChannelTimeouts, upstreamModel } from '../catalog/channels/index.js';
import { AppError, monotonicMs, recordedMessage } from '../platform/shared/index.js';
import {
  type Call,
  type FinishedCompaction,
  type Flow,
  type Frame,
  passUsage,
  type ProtocolAdapter,
  type ProtocolId,
  TranslationWarnings,
  type UpstreamAdapter,
  type UpstreamRequest,
  type UpstreamTarget,
  type VerbatimLane,
} from '../protocols/contract/index.js';
import { AdapterRegistry } from './adapter.registry.js';
import type { Admission, AttemptLog, AttemptTarget, Ticket } from './billing/index.js';
import type { ReplyState } from './call-context.js';
import { compactedFirst } from './compaction-pass.js';
import { lane, type LaneOutlet } from './lane.js';
import { RelayTimings } from './relay-timings.js';
import { NotForThisChannel, TranslationTooSlow } from './relay.errors.js';
import { ResponseStore } from './response-store.js';
import type { FrameOutlet } from './response-stream.js';
import type { Assignment } from './routing/index.js';
import type { CallTranslation } from './call-translation.js';
import type { TranslatedRequest, Translator } from './translation.service.js';
import { UpstreamClient } from './upstream/upstream-client.js';

/** An admitted call in progress. */
export interface RunningCall {
  readonly ticket: Ticket;
  readonly admission: Admission;
  readonly response: ReplyState;
  /** Of the protocol of the response; the request is in the call's own. */
  readonly responseAdapter: ProtocolAdapter;
}

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
      const prepared = prepareRequest(running, assignment.channel, adapter, translator);
      const begunMs = monotonicMs();
      const leftMs = (): number => Math.max(1, totalMs - (monotonicMs() - begunMs));
      const ask = (ready: PreparedRequest, finished?: FinishedCompaction): Observable<Frame> => {
        const context = { running, assignment, adapter, translator, totalMs: leftMs(), finished };
        if (ready.translation?.compaction !== 'first') return this.ask(ready, context);
        const goOn = (done: FinishedCompaction): Observable<Frame> =>
          whenPrepared(translateRequest(ready.target, adapter, translator, done), leftMs(), (next) => ask(next, done));
        return compactedFirst(this.ask(ready, context), ready.translation, goOn);
      };
      return whenPrepared(prepared, totalMs, ask);
    });
  }

  private ask(
    prepared: PreparedRequest,
    { running, assignment, adapter, translator, totalMs, finished }: AttemptContext,
  ): Observable<Frame> {
    const { ticket, response } = running;
    const { channel, credential } = assignment;
    const { call } = ticket;
    const { target, request, translation, warnings, stopsSent } = prepared;
    // Also clears the warnings of a failed attempt.
    response.warnings = warnings.header;
    const attempt = ticket.beginAttempt(
      {
        ...attemptTarget(assignment, running.admission.plan.model.name, target.model),
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
    const frames = this.client
      .open(channel, credential, traced(request, ticket, channel, adapter), response.flow)
      .pipe(lane(context, (out) => new AttemptWatch(out, attempt, response, limits)));
    return translation?.compaction === 'first' ? frames : this.storing(frames, running, assignment, translation);
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

/** A request ready to be sent, and what is needed to read its response. */
interface PreparedRequest {
  readonly target: UpstreamTarget;
  readonly request: UpstreamRequest;
  /** Undefined for verbatim requests. */
  readonly translation: CallTranslation | undefined;
  readonly warnings: TranslationWarnings;
  /** Number of stop sequences sent upstream. */
  readonly stopsSent: number;
}

/**
 * Synchronous unless a large request is translated.
 * @param translator reads the request if the upstream's protocol differs
 * @throws AppError of the adapter; NotForThisChannel when the protocol cannot express the request
 */
function prepareRequest(
  running: RunningCall,
  channel: Channel,
  adapter: UpstreamAdapter,
  translator: Translator,
): PreparedRequest | Observable<PreparedRequest> {
  const { call } = running.ticket;
  if (passesVerbatim(call, running.responseAdapter.id, channel, adapter)) {
    const input = translator.completeInput();
    const target = { ...targetOf(running, channel, false), ...(input !== undefined && { input }) };
    // A verbatim request sends everything.
    const whole = { translation: undefined, warnings: new TranslationWarnings(false), stopsSent: Infinity };
    return { target, request: adapter.verbatim.rewriteRequest(call, target), ...whole };
  }
  return translateRequest(targetOf(running, channel, true), adapter, translator);
}

/**
 * The request in the upstream's protocol.
 * @param finished compaction of the conversation, if it was compacted first
 */
function translateRequest(
  target: UpstreamTarget,
  adapter: UpstreamAdapter,
  translator: Translator,
  finished?: FinishedCompaction,
): PreparedRequest | Observable<PreparedRequest> {
  const prepared = ({ request, translation, warnings }: TranslatedRequest): PreparedRequest => ({
    target,
    request,
    translation,
    warnings,
    stopsSent: request.stopSequencesSent ?? 0,
  });
  try {
    const built = translator.build(adapter, target, finished);
    if (!isObservable(built)) return prepared(built);
    return built.pipe(
      map(prepared),
      catchError((error: unknown) => throwError(() => unfit(error))),
    );
  } catch (error) {
    throw unfit(error);
  }
}

const unfit = (error: unknown): unknown =>
  error instanceof AppError && error.kind === 'invalid_request' ? new NotForThisChannel(error) : error;

/**
 * Whether the client's bytes are sent unchanged: the upstream uses the same protocol, the response form matches, and it
 * can compact conversations if necessary.
 */
export function passesVerbatim(
  { protocol, head }: Pick<Call, 'protocol' | 'head'>,
  responseProtocol: ProtocolId,
  channel: Channel,
  adapter: Pick<UpstreamAdapter, 'verbatim'>,
): adapter is { readonly verbatim: VerbatimLane } {
  const isNative = adapter.verbatim !== undefined && channel.protocol === protocol && responseProtocol === protocol;
  const folds = channel.flags['forceUpstreamStream'] === true && !head.stream;
  const summarizes = head.compacts === true && channel.flags['compaction'] === false;
  return isNative && !folds && !summarizes;
}

function targetOf({ ticket, admission }: RunningCall, channel: Channel, translated: boolean): UpstreamTarget {
  const { model, caller } = admission.plan;
  const flags = { ...model.capabilities, ...channel.flags };
  // Streaming upstream shows progress of long responses; a client without streaming gets them collected.
  const folds = translated && flags['forceUpstreamStream'] !== false;
  return {
    model: upstreamModel(channel, model.name),
    outputLimit: admission.outputLimit,
    flags,
    stream: ticket.call.head.stream || folds,
    maxOutputTokens: model.maxOutputTokens,
    mayStore: caller.storesResponses,
    family: channel.family,
    namedModels: admission.plan.namedModels && namedUpstream(channel, admission.plan.namedModels.keys()),
  };
}

const namedUpstream = (channel: Channel, names: Iterable<string>): ReadonlyMap<string, string> =>
  new Map(Array.from(names, (name) => [name, upstreamModel(channel, name)]));

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
    if (firstMs !== undefined)
      this.first = new PausableTimeout(flow, firstMs, () =>
        this.late('The upstream did not start to respond in time.'),
      );
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
