import { monotonicMs } from '../shared/index.js';
import type { AttemptRow } from './call-row.js';

/** What is recorded of one request to an upstream while it runs. Times in milliseconds from its start. */
export class AttemptLog {
  private readonly startedMs = monotonicMs();
  private headersMs: number | null = null;
  private firstTokenMs: number | null = null;
  private durationMs: number | null = null;
  private status: number | null = null;
  private outcome: string | undefined;
  /** Told when the upstream has begun to answer. */
  onAnswered: (() => void) | undefined;

  constructor(
    private readonly call: { readonly id: string; readonly createdAt: number },
    private readonly ordinal: number,
    readonly channel: string,
    readonly protocol: string,
    private readonly upstreamModel: string,
  ) {}

  /** The upstream has begun to answer: it has read the prompt, and will charge for it. A refusal is no answer. */
  get answered(): boolean {
    return this.status !== null && this.status >= 200 && this.status < 300;
  }

  headers(status: number): void {
    this.headersMs = this.elapsed();
    this.status = status;
    if (this.answered) this.onAnswered?.();
  }

  firstToken(): void {
    this.firstTokenMs ??= this.elapsed();
  }

  /** `succeeded`, or the kind of error it ended with; the first counts. What is never finished was cancelled. */
  finish(outcome: string): void {
    this.outcome ??= outcome;
    this.durationMs ??= this.elapsed();
  }

  row(): AttemptRow {
    return {
      call_id: this.call.id,
      ordinal: this.ordinal,
      created_at: new Date(this.call.createdAt).toISOString(),
      channel: this.channel,
      protocol: this.protocol,
      upstream_model: this.upstreamModel,
      upstream_status: this.status,
      outcome: this.outcome ?? 'cancelled',
      headers_ms: this.headersMs,
      first_token_ms: this.firstTokenMs,
      duration_ms: this.durationMs ?? this.elapsed(),
    };
  }

  private elapsed(): number {
    return Math.round(monotonicMs() - this.startedMs);
  }
}
