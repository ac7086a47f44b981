import {
  applyDecorators,
  type CanActivate,
  type ExecutionContext,
  Injectable,
  type OnModuleDestroy,
  UseGuards,
} from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ServerResponse } from 'node:http';
import { ApiKeyGuard, type Caller, RefusedCaller } from '../keys/index.js';
import { Config } from '../platform/config/index.js';
import { Metrics } from '../platform/metrics/index.js';
import { AppError, monotonicMs } from '../platform/shared/index.js';
import { AdapterRegistry } from './adapter.registry.js';
import { BillingService } from './billing/index.js';
import { NoMoreCalls, Overloaded } from './relay.errors.js';
import { arrivalOf, callerOf, requestLineOf } from './request-facts.js';
import { RunState } from './run-state.js';

/** How often is looked how late the event loop is. */
const LOOK_MS = 100;

/**
 * Refuses calls that this process could not answer in time, or not beside those that it is answering already: these go
 * on as if the others had not come. Nothing but calls is refused.
 */
@Injectable()
export class LoadShedding implements OnModuleDestroy {
  private readonly shed;
  private readonly maxCalls: number;
  private readonly load: EventLoopLoad;
  private readonly looking: NodeJS.Timeout;
  private lookedMs = monotonicMs();
  private running = 0;

  constructor(metrics: Metrics, { maxCallsInFlight, maxEventLoopDelayMs }: Config) {
    this.shed = metrics.counter('calls_shed_total', 'Requests rejected by load shedding.', ['reason']);
    this.maxCalls = maxCallsInFlight;
    this.load = new EventLoopLoad(maxEventLoopDelayMs);
    this.looking = setInterval(() => this.look(), LOOK_MS).unref();
  }

  /** Counts a call as running until its answer is over. @throws Overloaded when it is one too many */
  take(response: ServerResponse): void {
    if (this.running >= this.maxCalls) this.refuse('calls_in_flight');
    if (this.load.slow) this.refuse('event_loop_delay');
    // Its client has left while its key was looked up, and nobody would tell that it is over.
    if (response.destroyed) return;
    this.running += 1;
    response.once('close', () => (this.running -= 1));
  }

  onModuleDestroy(): void {
    clearInterval(this.looking);
  }

  private refuse(reason: 'calls_in_flight' | 'event_loop_delay'): never {
    this.shed.inc({ reason });
    throw new Overloaded();
  }

  private look(): void {
    const nowMs = monotonicMs();
    const sinceMs = nowMs - this.lookedMs;
    this.lookedMs = nowMs;
    this.load.note(sinceMs, Math.max(0, sinceMs - LOOK_MS));
  }
}

/**
 * The guard of routes that reach a model: a key, and a process that takes calls. A refusal that concerns a key of
 * ours leaves a row: its owner will look there for the reason.
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
    try {
      const accepted = await this.keys.canActivate(context);
      if (this.state.draining) throw new NoMoreCalls();
      this.load.take(http.getResponse<FastifyReply>().raw);
      return accepted;
    } catch (error) {
      if (error instanceof RefusedCaller) await this.record(request, error.caller, error);
      else if (error instanceof NoMoreCalls || error instanceof Overloaded)
        await this.record(request, callerOf(request), error);
      throw error;
    }
  }

  private async record(request: FastifyRequest, caller: Caller, error: AppError): Promise<void> {
    const protocol = this.adapters.claimant(requestLineOf(request)).id;
    await this.billing.refuse({ id: request.id, protocol, caller, ...arrivalOf(request) }, error);
  }
}

/** For controllers whose routes reach a model: the key is checked from the headers, before the body is read. */
export const CallRoute = (): ClassDecorator & MethodDecorator => applyDecorators(UseGuards(CallGuard));

/** Judged again so often: a call that waits for less is nobody's concern. */
const WINDOW_MS = 500;
/** One long turn may be a freeze of the machine, and is over when it is seen; two in a row are not chance. */
const HIGH_WINDOWS = 2;

/**
 * Whether the event loop has more to do than it gets done: by how late its timers come, over about a second. Slow, until
 * the delay has fallen to half of what makes it so.
 */
export class EventLoopLoad {
  private isSlow = false;
  private elapsedMs = 0;
  /** Of each turn its delay times its length: what most moments lay in counts, not what most turns were. */
  private weighted = 0;
  private highWindows = 0;

  constructor(private readonly limitMs: number) {}

  get slow(): boolean {
    return this.isSlow;
  }

  /** @param sinceMs since the last time @param lateMs so much of it was too much */
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
