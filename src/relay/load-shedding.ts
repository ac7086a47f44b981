import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import type { ServerResponse } from 'node:http';
import { Config } from '../platform/config/index.js';
import { Metrics } from '../platform/metrics/index.js';
import { monotonicMs } from '../platform/shared/index.js';
import { EventLoopLoad } from './event-loop-load.js';
import { Overloaded } from './relay.errors.js';

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
