// Adds up the outcomes of a job's calls.
import type { Outcome } from './caller.ts';
import type { Report } from './jobs.ts';

export class Tally {
  private readonly begun = performance.now();
  private readonly latencies: number[] = [];
  private readonly firsts: number[] = [];
  private readonly deviations: number[] = [];
  private failed = 0;
  private failure: string | undefined;
  private lost = 0;

  add({ failure, ms, firstMs, check }: Outcome): void {
    this.lost += check?.lost ?? 0;
    if (failure !== undefined) {
      this.failed++;
      this.failure ??= failure;
      return;
    }
    this.latencies.push(ms);
    if (firstMs !== undefined) this.firsts.push(firstMs);
    for (const deviation of check?.deviations ?? []) this.deviations.push(deviation);
  }

  get failures(): number {
    return this.failed;
  }

  report(): Report {
    return {
      calls: this.latencies.length,
      failed: this.failed,
      ...(this.failure === undefined ? {} : { failure: this.failure }),
      seconds: (performance.now() - this.begun) / 1000,
      latencies: Float64Array.from(this.latencies),
      firsts: Float64Array.from(this.firsts),
      deviations: Float64Array.from(this.deviations),
      lost: this.lost,
    };
  }
}
