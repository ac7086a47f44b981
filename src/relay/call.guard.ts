import {
  applyDecorators,
  type CanActivate,
  type ExecutionContext,
  Injectable,
  type OnModuleDestroy,
  UseGuards,
} from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ApiKeyGuard, type Caller, RefusedCaller } from '../keys/index.js';
import { Config } from '../platform/config/index.js';
import { Metrics } from '../platform/metrics/index.js';
import { AppError, monotonicMs } from '../platform/shared/index.js';
import type { ProtocolId } from '../protocols/contract/index.js';
import { AdapterRegistry } from './adapter.registry.js';
import { BillingService } from './billing/index.js';
import { type Arrival, arrivalOf, requestLineOf, type ResponseEnd } from './call-context.js';
import { NoMoreCalls, Overloaded } from './relay.errors.js';
import { RunState } from './run-state.js';

/** Sampling interval of the event loop delay. */
const SAMPLE_MS = 100;
/** One for all: under overload a stack for each would cost more than anything else of a rejection. */
const OVERLOADED = new Overloaded();
/** Rejections recorded per sampling interval: rows of all of them would take what is left of the capacity. */
const MAX_RECORDS = 10;

/**
 * Rejects calls that this process could not serve in time, so that running calls are not affected. Applies to calls
 * only.
 */
@Injectable()
export class LoadShedding implements OnModuleDestroy {
  private readonly shed;
  private readonly maxCalls: number;
  private readonly maxDelayMs: number;
  private readonly load: EventLoopLoad;
  private readonly timer: NodeJS.Timeout;
  private sampledMs = monotonicMs();
  private running = 0;
  private recordsLeft = MAX_RECORDS;

  constructor(
    metrics: Metrics,
    private readonly billing: BillingService,
    { maxCallsInFlight, maxEventLoopDelayMs }: Config,
  ) {
    this.shed = metrics.counter('calls_shed_total', 'Requests rejected because the process was overloaded.', [
      'reason',
    ]);
    this.maxCalls = maxCallsInFlight;
    this.maxDelayMs = maxEventLoopDelayMs;
    this.load = new EventLoopLoad(maxEventLoopDelayMs);
    this.timer = setInterval(() => this.sample(), SAMPLE_MS).unref();
  }

  /** Counts a call until its response ends. @throws Overloaded */
  take(response: Pick<ResponseEnd, 'destroyed' | 'once'>): void {
    if (this.running >= this.maxCalls) this.refuse('calls_in_flight');
    if (this.load.slow) this.refuse('event_loop_delay');
    // It would wait as long itself.
    if (this.billing.admissionDelayMs > this.maxDelayMs) this.refuse('admission_delay');
    // The client left during authentication; there will be no close event.
    if (response.destroyed) return;
    this.running += 1;
    response.once('close', () => (this.running -= 1));
  }

  /** Whether another rejection is recorded; further ones are only counted. */
  mayRecord(): boolean {
    this.recordsLeft -= 1;
    return this.recordsLeft >= 0;
  }

  onModuleDestroy(): void {
    clearInterval(this.timer);
  }

  private refuse(reason: 'calls_in_flight' | 'event_loop_delay' | 'admission_delay'): never {
    this.shed.inc({ reason });
    throw OVERLOADED;
  }

  private sample(): void {
    const nowMs = monotonicMs();
    const sinceMs = nowMs - this.sampledMs;
    this.sampledMs = nowMs;
    this.recordsLeft = MAX_RECORDS;
    this.load.note(sinceMs, Math.max(0, sinceMs - SAMPLE_MS));
  }
}

/**
 * Guards routes that reach a model: requires a key and available capacity. Rejections of known keys are recorded, so
 * that their owner finds the reason.
 */
@Injectable()
export class CallGuard implements CanActivate {
  constructor(
    private readonly keys: ApiKeyGuard,
    private readonly billing: BillingService,
    private readonly adapters: AdapterRegistry,
    private readonly state: RunState,
    private readonly load: LoadShedding,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const http = context.switchToHttp();
    const request = http.getRequest<FastifyRequest>();
    const { raw } = http.getResponse<FastifyReply>();
    try {
      const accepted = await this.keys.canActivate(context);
      this.admit(raw);
      return accepted;
    } catch (error) {
      const protocol = this.adapters.claimingAdapter(requestLineOf(request)).id;
      const { user: caller } = request as { user?: Caller };
      await this.record(error, { id: request.id, protocol, caller, arrival: arrivalOf(request) });
      throw error;
    }
  }

  /** Requires that the process takes calls, and counts one until the response ends. @throws NoMoreCalls, Overloaded */
  admit(response: Pick<ResponseEnd, 'destroyed' | 'once'>): void {
    if (this.state.draining) throw new NoMoreCalls();
    this.load.take(response);
  }

  /** Records a rejection, if it is one of a known key. */
  async record(error: unknown, { id, protocol, caller, arrival }: RejectedCall): Promise<void> {
    const refuse = (known: Caller, reason: AppError): Promise<void> =>
      this.billing.refuse({ id, protocol, caller: known, ...arrival }, reason);
    if (error instanceof RefusedCaller) await refuse(error.caller, error);
    else if (caller === undefined) return;
    else if (error instanceof NoMoreCalls) await refuse(caller, error);
    // Not awaited: a rejection must be early, and its row waits with those of other calls.
    else if (error instanceof Overloaded && this.load.mayRecord()) void refuse(caller, error);
  }
}

/** A call before its body is read. */
interface RejectedCall {
  readonly id: string;
  readonly protocol: ProtocolId;
  readonly arrival: Arrival;
  /** Undefined if the key is unknown. */
  readonly caller: Caller | undefined;
}

/** For controllers whose routes reach a model. Authenticates from headers, before the body is read. */
export const CallRoute = (): ClassDecorator & MethodDecorator => applyDecorators(UseGuards(CallGuard));

/** Evaluation interval; shorter overload does not matter. */
const WINDOW_MS = 500;
/** A single long turn may be a pause of the machine; two in a row are not chance. */
const HIGH_WINDOWS = 2;

/**
 * Detects an overloaded event loop by the delay of timers over about a second. Overload ends when the delay falls to
 * half of the threshold.
 */
export class EventLoopLoad {
  private isSlow = false;
  private elapsedMs = 0;
  /** Delay weighted by turn length: what counts is most of the time, not most turns. */
  private weighted = 0;
  private highWindows = 0;

  constructor(private readonly limitMs: number) {}

  get slow(): boolean {
    return this.isSlow;
  }

  /** @param sinceMs time since the last sample @param lateMs delay of the timer */
  note(sinceMs: number, lateMs: number): void {
    this.elapsedMs += sinceMs;
    this.weighted += sinceMs * lateMs;
    if (this.elapsedMs < WINDOW_MS) return;
    this.judge(this.weighted / this.elapsedMs);
    this.elapsedMs = 0;
    this.weighted = 0;
  }

  private judge(delayMs: number): void {
    this.highWindows = delayMs > this.limitMs ? this.highWindows + 1 : 0;
    if (this.highWindows >= HIGH_WINDOWS) this.isSlow = true;
    else if (delayMs < this.limitMs / 2) this.isSlow = false;
  }
}
