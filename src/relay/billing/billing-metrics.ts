import { Injectable } from '@nestjs/common';
import { Metrics } from '../../platform/metrics/index.js';
import type { AdmissionRequest, AdmissionResult, ExtensionRequest, ExtensionResult } from './admission.js';
import type { CallRow } from './call-row.js';

const BATCH_SIZES = [1, 2, 4, 8, 16, 32, 64];
/** In seconds. */
const STATEMENTS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10];
const NANOS_PER_USD = 1e9;

/** Metrics of statements that move money. Amounts are floating-point US dollars, for display only. */
@Injectable()
export class MoneyMetrics {
  private readonly sizes;
  private readonly durations;
  private readonly cost;
  /** Holds of this process in nanos, by call. */
  private readonly holds = new Map<string, bigint>();
  private held = 0n;

  constructor(metrics: Metrics) {
    this.sizes = metrics.histogram('batch_calls', 'Calls per admit, extend or settle statement.', BATCH_SIZES, [
      'statement',
    ]);
    this.durations = metrics.histogram(
      'batch_seconds',
      'Duration of admit, extend and settle statements, including failed ones.',
      STATEMENTS,
      ['statement'],
    );
    this.cost = metrics.counter('cost_usd_total', 'Amount charged for calls, in US dollars.', ['model', 'group']);
    metrics.gauge('open_holds', 'Calls with a hold.', [], (gauge) => gauge.set(this.holds.size));
    metrics.gauge('open_holds_usd', 'Amount on hold, in US dollars.', [], (gauge) => gauge.set(usd(this.held)));
  }

  /** Measures a statement. */
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
      // The extension may return after the settlement that released the hold.
      if (id !== undefined && this.holds.has(id)) this.hold(id, granted);
    });
  }

  /** @param collected per call; undefined if it was settled before */
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

/** In seconds: unstreamed responses may take minutes. */
const DURATIONS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600];
/** In seconds, until the first content. */
const FIRST_TOKENS = [0.05, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60];

/** Counts calls once, when they end, from their row. A model name is a label only if admission knew the model. */
@Injectable()
export class CallMetrics {
  private readonly calls;
  private readonly durations;
  private readonly firstTokens;
  private readonly tokens;
  private readonly attempts;
  private readonly attemptDurations;
  private readonly attemptFirstTokens;
  private readonly reports;

  constructor(metrics: Metrics) {
    this.calls = metrics.counter('calls_total', 'Finished calls, by status and reason as in the usage logs.', [
      'dialect',
      'upstream_dialect',
      'status',
      'reason',
    ]);
    this.durations = metrics.histogram('call_seconds', 'Duration of calls.', DURATIONS, ['dialect', 'stream']);
    this.firstTokens = metrics.histogram(
      'first_token_seconds',
      'Time from arrival of a streamed call to the first content sent to the client.',
      FIRST_TOKENS,
      ['dialect'],
    );
    this.tokens = metrics.counter('tokens_total', 'Tokens of calls; prompt and completion include the other types.', [
      'model',
      'type',
    ]);
    this.attempts = metrics.counter('attempts_total', 'Upstream requests, by outcome.', ['channel', 'outcome']);
    this.attemptDurations = metrics.histogram('attempt_seconds', 'Duration of upstream requests.', DURATIONS, [
      'channel',
    ]);
    this.attemptFirstTokens = metrics.histogram(
      'attempt_first_token_seconds',
      'Time from an upstream request to the first content of its response.',
      FIRST_TOKENS,
      ['channel'],
    );
    this.reports = metrics.counter('usage_reports_total', 'Usage reports of upstreams, by check result.', [
      'channel',
      'quality',
    ]);
  }

  /** @param row as reported to its client */
  count(row: CallRow): void {
    const { protocol: dialect, upstream_protocol: upstreamProtocol, status, error_reason: reason } = row;
    this.calls.inc({ dialect, upstream_dialect: upstreamProtocol, status, reason });
    this.durations.observe({ dialect, stream: String(row.stream) }, row.duration_ms / 1000);
    if (row.first_token_ms !== null) this.firstTokens.observe({ dialect }, row.first_token_ms / 1000);
    this.countTokens(row);
    const quality = reportQuality(row);
    if (quality !== undefined) this.reports.inc({ channel: row.channel, quality });
    for (const { channel, outcome, duration_ms: durationMs, first_token_ms: firstTokenMs } of row.attempt_rows) {
      this.attempts.inc({ channel, outcome });
      this.attemptDurations.observe({ channel }, durationMs / 1000);
      if (firstTokenMs !== null) this.attemptFirstTokens.observe({ channel }, firstTokenMs / 1000);
    }
  }

  private countTokens(row: CallRow): void {
    if (row.snapshot === null || row.prompt_tokens === null) return;
    const types = {
      prompt: row.prompt_tokens,
      cached: row.cached_tokens,
      cache_write: row.cache_write_tokens,
      completion: row.completion_tokens,
      reasoning: row.reasoning_tokens,
    };
    for (const [type, count] of Object.entries(types))
      if (count !== null && count > 0) this.tokens.inc({ model: row.model, type }, count);
  }
}

/** Quality of the usage report; undefined where none is expected, as after an abort. */
function reportQuality({ billing_basis: basis, upstream_report: report }: CallRow): string | undefined {
  switch (basis) {
    case 'reported':
      return report === null ? 'complete' : 'counts_in_strings';
    case 'estimated':
      return report === null ? 'missing' : 'partial';
    case 'corrected':
      return 'implausible';
    default:
      return report === null ? undefined : 'implausible';
  }
}
