import { Injectable } from '@nestjs/common';
import { Clock, monotonicMs } from '../../../platform/shared/index.js';
import { type ModelOutcomes, RangeTooLarge, readModelOutcomes, TimeLimitedReads } from '../../../usage/index.js';

/** How models answered, as it was counted last. */
export interface CountedResponses {
  readonly models: ReadonlyMap<string, ModelOutcomes>;
  /** The beginning of each hour that was counted, in milliseconds since 1970, from the oldest on; the last one runs. */
  readonly hours: readonly number[];
  readonly countedAt: Date;
}

const HOUR_MS = 3_600_000;
export const HOURS = 24;
/** How long a count may take, in ms. */
const LIMIT_MS = 3000;
/** How long it is shown before another one is begun: at least so long, and many times as long as it took. */
const KEPT_MS = 15_000;
const KEPT_TIMES = 20;

/** Counts for whoever asks, strangers among them: however many ask, the database is asked seldom, and once at a time. */
@Injectable()
export class ResponseCounting {
  private last: CountedResponses | undefined;
  private keptUntilMs = -Infinity;
  private counting: Promise<void> | undefined;

  constructor(
    private readonly reads: TimeLimitedReads,
    private readonly clock: Clock,
  ) {}

  /** Undefined when nothing could be counted yet; older than usual when the last count took too long. */
  async current(): Promise<CountedResponses | undefined> {
    if (monotonicMs() >= this.keptUntilMs)
      await (this.counting ??= this.count().finally(() => (this.counting = undefined)));
    return this.last;
  }

  private async count(): Promise<void> {
    const begunMs = monotonicMs();
    const countedAt = this.clock.date();
    const running = Math.floor(countedAt.getTime() / HOUR_MS) * HOUR_MS;
    const hours = Array.from({ length: HOURS }, (_, index) => running - (HOURS - 1 - index) * HOUR_MS);
    const span = { from: new Date(running - (HOURS - 1) * HOUR_MS), to: countedAt };
    try {
      const models = await this.reads.read((query) => readModelOutcomes(query, span), LIMIT_MS);
      this.last = { models: new Map(models.map((answers) => [answers.model, answers])), hours, countedAt };
    } catch (error) {
      if (!(error instanceof RangeTooLarge)) throw error;
    } finally {
      const tookMs = monotonicMs() - begunMs;
      this.keptUntilMs = monotonicMs() + Math.max(KEPT_MS, KEPT_TIMES * tookMs);
    }
  }
}
