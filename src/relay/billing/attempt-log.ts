import type { ProtocolId, TokenUsage } from '../../protocols/contract/index.js';
import type { Channel, UpstreamCost } from '../../catalog/channels/index.js';
import { monotonicMs } from '../../platform/shared/index.js';
import type { AttemptRow } from './call-row.js';

/** Enough to tell failures apart; some upstreams send pages of text. */
const MAX_REASON_CHARACTERS = 300;

/** Where a request goes. */
export interface AttemptTarget {
  readonly channel: string;
  readonly protocol: ProtocolId;
  readonly upstreamModel: string;
  /** Which of the channel's credentials, from 1; null when it has none. */
  readonly credential: number | null;
  /** The upstream is not asked for the client's service tier: its protocol has none. */
  readonly isTierLeftOut?: boolean;
  /** What the upstream charges for the model; undefined: unknown. */
  readonly cost: UpstreamCost | undefined;
  /** All models of the channel, for passes of others than the one that was asked for; absent: only that is known. */
  readonly offers?: Pick<Channel, 'models' | 'costs'>;
}

/** How far a request came: it never left, nobody answered it, it was refused, or it has been worked on. */
type Fate = 'never sent' | 'unanswered' | 'refused' | 'answered';

/** What is recorded of one request to an upstream while it runs. Times in milliseconds from its start. */
export class AttemptLog {
  private readonly startedMs = monotonicMs();
  private connectMs: number | null = null;
  private isSent = false;
  private headersMs: number | null = null;
  private firstByteMs: number | null = null;
  private firstTokenMs: number | null = null;
  private durationMs: number | null = null;
  private status: number | null = null;
  private upstreamRequestId = '';
  private outcome: string | undefined;
  private reason = '';
  /** What it used, as it was reported before the attempt was given up for another one. */
  usage: TokenUsage | undefined;
  /** Told when the upstream has begun to answer. */
  onAnswered: (() => void) | undefined;

  constructor(
    private readonly call: { readonly id: string; readonly createdAt: number },
    private readonly ordinal: number,
    private readonly target: AttemptTarget,
    /** Milliseconds from the call's arrival to here. */
    private readonly begunMs: number,
  ) {}

  get channel(): string {
    return this.target.channel;
  }

  get protocol(): ProtocolId {
    return this.target.protocol;
  }

  get isTierLeftOut(): boolean {
    return this.target.isTierLeftOut === true;
  }

  get cost(): UpstreamCost | undefined {
    return this.target.cost;
  }

  /** What the upstream charges for another model of the channel; undefined: unknown. */
  costOf(model: string): UpstreamCost | undefined {
    return this.target.offers?.costs.get(model);
  }

  /** The names by which the upstream knows a model. */
  upstreamNames(model: string): readonly string[] {
    return this.target.offers?.models.get(model) ?? [];
  }

  get fate(): Fate {
    if (this.status !== null) return this.answered ? 'answered' : 'refused';
    return this.connectMs === null ? 'never sent' : 'unanswered';
  }

  /** The upstream has begun to answer. A refusal is no answer. */
  get answered(): boolean {
    return this.status !== null && this.status >= 200 && this.status < 300;
  }

  /** There is a connection, and the request goes out on it. */
  connected(): void {
    this.connectMs ??= this.elapsed();
  }

  /** All of the request has been handed to the connection. */
  sent(): void {
    this.isSent = true;
  }

  /** The upstream has all of the prompt, and has not refused it: it will charge for it. */
  get isPromptSpent(): boolean {
    return this.answered || (this.isSent && this.status === null && this.outcome === undefined);
  }

  /** @param requestId what the upstream calls the request */
  headers(status: number, requestId = ''): void {
    this.headersMs = this.elapsed();
    this.status = status;
    this.upstreamRequestId = requestId;
    if (this.answered) this.onAnswered?.();
  }

  /** The first byte of the answer's body has come; later ones change nothing. */
  firstByte(): void {
    this.firstByteMs ??= this.elapsed();
  }

  firstToken(): void {
    this.firstTokenMs ??= this.elapsed();
  }

  /**
   * @param outcome `succeeded`, or the kind of error it ended with; the first counts. What is never finished was cancelled
   * @param reason why it failed, without quotes of the request
   */
  finish(outcome: string, reason = ''): void {
    if (this.outcome !== undefined) return;
    this.outcome = outcome;
    this.reason = reason.slice(0, MAX_REASON_CHARACTERS);
    this.durationMs = this.elapsed();
  }

  /** What it cost is not known before the call has ended. */
  row(): AttemptRow {
    return {
      call_id: this.call.id,
      ordinal: this.ordinal,
      created_at: new Date(this.call.createdAt).toISOString(),
      channel: this.channel,
      protocol: this.protocol,
      upstream_model: this.target.upstreamModel,
      upstream_status: this.status,
      outcome: this.outcome ?? 'cancelled',
      headers_ms: this.headersMs,
      first_token_ms: this.firstTokenMs,
      duration_ms: this.durationMs ?? this.elapsed(),
      credential: this.target.credential,
      reason: this.reason,
      begun_ms: Math.round(this.begunMs),
      connect_ms: this.connectMs,
      first_byte_ms: this.firstByteMs,
      cost_version: this.cost?.version ?? null,
      upstream_cost: null,
      upstream_request_id: this.upstreamRequestId,
    };
  }

  private elapsed(): number {
    return Math.round(monotonicMs() - this.startedMs);
  }
}
