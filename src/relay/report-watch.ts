import { isBelievable, type UsageBounds } from '../billing/index.js';
import { type CallSignal, isFinalReport, type TokenUsage } from '../call/index.js';

/** Whether an answer, as it passes, has ended with a report of its usage that is complete and can be true. */
export class ReportWatch {
  private report: TokenUsage | undefined;
  private seen: number | undefined;

  /** @param stream whether all of the answer's output is seen; what comes whole is looked into only where that is needed */
  constructor(
    private readonly bounds: UsageBounds,
    private readonly stream: boolean,
  ) {}

  note(signals: readonly CallSignal[]): void {
    for (const signal of signals) {
      if (signal.type === 'output') this.seen = (this.seen ?? 0) + signal.units;
      else if (signal.type === 'usage') this.report = isFinalReport(signal) ? signal.usage : undefined;
    }
  }

  get isBelieved(): boolean {
    const seen = this.seen ?? (this.stream ? 0 : undefined);
    return this.report !== undefined && isBelievable(this.report, this.bounds, seen);
  }
}
