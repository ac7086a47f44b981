import { Injectable } from '@nestjs/common';
import { Metrics } from '../../platform/metrics/index.js';
import type { AdmissionRequest, AdmissionResult, ExtensionRequest, ExtensionResult } from './admission.js';
import type { CallRow } from './call-row.js';

const BATCH_SIZES = [1, 2, 4, 8, 16, 32, 64];
/** In seconds. */
const STATEMENTS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10];
const NANOS_PER_USD = 1e9;

/** What the statements that move money are watched by. Amounts are for the eye here: floating point, in US dollars. */
@Injectable()
export class MoneyMetrics {
  private readonly sizes;
  private readonly durations;
  private readonly cost;
  /** What this process has on hold, in nanos by call. */
  private readonly holds = new Map<string, bigint>();
  private held = 0n;

  constructor(metrics: Metrics) {
    this.sizes = metrics.histogram('batch_calls', 'Calls per database statement.', BATCH_SIZES, ['statement']);
    this.durations = metrics.histogram(
      'batch_seconds',
      'Duration of these statements, including failed ones.',
      STATEMENTS,
      ['statement'],
    );
    this.cost = metrics.counter('cost_usd_total', 'Amount charged for calls, in US dollars.', ['model', 'group']);
    metrics.gauge('open_holds', 'Calls with a hold.', [], (gauge) => gauge.set(this.holds.size));
    metrics.gauge('open_holds_usd', 'Amount on hold, in US dollars.', [], (gauge) => gauge.set(usd(this.held)));
  }

  /** Measures one statement. */
  async timed<T>(statement: 'admit' | 'extend' | 'settle', calls: number, work: () => Promise<T>): Promise<T> {
    const end = this.durations.startTimer({ statement });
    this.sizes.observe({ statement }, calls);
    try {
      return await work();
    } finally {
      end();
    }
  }

  admitted(batch: readonly AdmissionRequest[], results: readonly AdmissionResult[]): void {
    results.forEach(({ outcome, hold }, index) => {
      const call = batch[index];
      if (call !== undefined && outcome === 'admitted') this.hold(call.id, hold);
    });
  }

  extended(batch: readonly ExtensionRequest[], results: readonly ExtensionResult[]): void {
    results.forEach(({ granted }, index) => {
      const id = batch[index]?.admission.id;
      // The answer may come behind that of the settlement, which has released it already.
      if (id !== undefined && this.holds.has(id)) this.hold(id, granted);
    });
  }

  /** @param collected of each call; undefined for one that had been settled before */
  settled(batch: readonly CallRow[], collected: readonly (bigint | undefined)[]): void {
    batch.forEach(({ id, model, group_name: group }, index) => {
      this.held -= this.holds.get(id) ?? 0n;
      this.holds.delete(id);
      const cost = collected[index] ?? 0n;
      if (cost > 0n) this.cost.inc({ model, group }, usd(cost));
    });
  }

  private hold(id: string, more: bigint): void {
    if (more === 0n) return;
    this.holds.set(id, (this.holds.get(id) ?? 0n) + more);
    this.held += more;
  }
}

const usd = (nanos: bigint): number => Number(nanos) / NANOS_PER_USD;
