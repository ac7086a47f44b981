import { within } from '../shared/index.js';
import type { Counts, Decision, Return, SharedCounts, Taking } from './counts.js';
import type { LimitTimings } from './limit-timings.js';

/** Told when counts that are shared are away, and when they are back. */
export interface OutageWatch {
  lost(name: string, reason: unknown): void;
  back(name: string): void;
}

/** What was decided, and by whom: only they can take anything back. */
export interface Decided {
  readonly decision: Decision;
  readonly by: Counts;
}

/**
 * Counts that are shared, with others in their place while they are away: then nobody waits for them. The first one who
 * has to wait too long, or is told no, ends the waiting of all; from then on they are asked in the background whether they
 * are back.
 */
export class FallbackCounts {
  private state: 'closed' | 'opening' | 'up' | 'down' = 'closed';
  private opening: Promise<void> | undefined;
  private probing: NodeJS.Timeout | undefined;

  constructor(
    private readonly shared: SharedCounts,
    private readonly instead: FallbackCounts | OwnCounts,
    private readonly timings: LimitTimings,
    private readonly watch: OutageWatch,
  ) {
    shared.onLost = (reason) => this.fall(reason);
  }

  /** Connects in the background; the first calls wait briefly. */
  open(): void {
    this.instead.open();
    this.state = 'opening';
    this.opening = this.inTime(this.shared.open()).then(
      () => this.rise(),
      (error: unknown) => this.fall(error),
    );
  }

  async take(taking: Taking): Promise<Decided> {
    if (this.state === 'opening') await this.opening;
    if (this.state !== 'up') return this.instead.take(taking);
    const asked = this.shared.take(taking);
    try {
      return { decision: await this.inTime(asked), by: this.shared };
    } catch (error) {
      // Granted after the timeout: return it.
      asked.then((decision) => this.takeBack(taking, decision)).catch(() => undefined);
      this.fall(error);
      return this.instead.take(taking);
    }
  }

  async close(): Promise<void> {
    this.state = 'closed';
    clearInterval(this.probing);
    await Promise.all([this.shared.close(), this.instead.close()]);
  }

  private fall(reason: unknown): void {
    if (this.state === 'closed' || this.state === 'down') return;
    this.state = 'down';
    this.watch.lost(this.shared.name, reason);
    this.probing = setInterval(() => void this.probe(), this.timings.probeMs).unref();
  }

  private async probe(): Promise<void> {
    const answered = this.inTime(this.shared.probe());
    await answered.then(
      () => this.rise(),
      () => undefined,
    );
  }

  private rise(): void {
    if (this.state === 'closed' || this.state === 'up') return;
    clearInterval(this.probing);
    if (this.state === 'down') this.watch.back(this.shared.name);
    this.state = 'up';
  }

  private takeBack({ id, counts, places }: Taking, { refusal, standings }: Decision): void {
    if (refusal !== undefined) return;
    const corrections = counts.map(({ key, windowMs, amount }, index) => {
      return { key, windowMs, amount: -amount, window: standings[index]?.window ?? 0 };
    });
    this.shared.giveBack({ id, places: places.map(({ key }) => key), corrections } satisfies Return);
  }

  /** @throws when it takes too long */
  private async inTime<Result>(asked: Promise<Result>): Promise<Result> {
    const { patienceMs } = this.timings;
    const answer = await within(
      asked.then((result) => ({ result })),
      patienceMs,
    );
    if (answer === undefined) throw new Error(`no response within ${patienceMs} ms`);
    return answer.result;
  }
}

/** The counts of this process alone, which are always there. */
export class OwnCounts {
  constructor(private readonly counts: Counts) {}

  open(): void {}

  async take(taking: Taking): Promise<Decided> {
    return { decision: await this.counts.take(taking), by: this.counts };
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}
