import type { Channel, UpstreamCost } from '../../catalog/channels/index.js';
import { monotonicMs } from '../../platform/shared/index.js';
import type { ProtocolId, TokenUsage, Transport } from '../../protocols/contract/index.js';

/** A row of `call_attempts`. Times in ms since its start; null: did not happen. */
export interface AttemptRow {
  readonly call_id: string;
  readonly ordinal: number;
  readonly created_at: string;
  readonly channel: string;
  readonly protocol: string;
  readonly upstream_model: string;
  readonly upstream_status: number | null;
  readonly outcome: string;
  readonly headers_ms: number | null;
  readonly first_token_ms: number | null;
  readonly duration_ms: number;
  /** Index of the channel's credential, from 1; null if it has none. */
  readonly credential: number | null;
  /** Error message as clients see it, else empty. */
  readonly reason: string;
  /** Ms since the call's start. */
  readonly begun_ms: number;
  readonly connect_ms: number | null;
  /** Of the body. */
  readonly first_byte_ms: number | null;
  /** Version of the channel's costs; null: they do not cover the model. */
  readonly cost_version: string | null;
  /** Upstream cost in nanos; null: unknown. */
  readonly upstream_cost: string | null;
  /** The upstream's request ID; empty if none. */
  readonly upstream_request_id: string;
  readonly transport: Transport;
}

/** Fields of the composite type `attempt`, in order. */
export const ATTEMPT = [
  'call_id',
  'ordinal',
  'created_at',
  'channel',
  'protocol',
  'upstream_model',
  'upstream_status',
  'outcome',
  'headers_ms',
  'first_token_ms',
  'duration_ms',
  'credential',
  'reason',
  'begun_ms',
  'connect_ms',
  'first_byte_ms',
  'cost_version',
  'upstream_cost',
  'upstream_request_id',
  'transport',
] as const satisfies readonly (keyof AttemptRow)[];

/** Enough to distinguish errors; some upstreams send whole pages. */
const MAX_REASON_CHARACTERS = 300;

/** Target of a request. */
export interface AttemptTarget {
  readonly channel: string;
  readonly protocol: ProtocolId;
  readonly upstreamModel: string;
  /** Index of the channel's credential, from 1; null if it has none. */
  readonly credential: number | null;
  /** Default: HTTP. */
  readonly transport?: Transport;
  /** The upstream's protocol has no service tier. */
  readonly isTierLeftOut?: boolean;
  /** Upstream cost of the model; undefined: unknown. */
  readonly cost: UpstreamCost | undefined;
  /** Models and costs of the channel, for passes of other models; absent: unknown. */
  readonly offers?: Pick<Channel, 'models' | 'costs'>;
}

/** How far a request got. */
type DeliveryState = 'unsent' | 'no response' | 'rejected' | 'responded';

/** Record of one request to an upstream. Times in ms since its start. */
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
  /** Usage reported before another attempt. */
  usage: TokenUsage | undefined;
  /** The previous attempt served a pass of the same response. */
  followsPass = false;
  /** Called when the upstream starts to respond. */
  onResponse: (() => void) | undefined;

  constructor(
    private readonly call: { readonly id: string; readonly createdAt: number },
    private readonly ordinal: number,
    private readonly target: AttemptTarget,
    /** Ms since the call's arrival. */
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

  /** Upstream cost of another model of the channel; undefined: unknown. */
  costOf(model: string): UpstreamCost | undefined {
    return this.target.offers?.costs.get(model);
  }

  /** Upstream names of a model. */
  upstreamNames(model: string): readonly string[] {
    return this.target.offers?.models.get(model) ?? [];
  }

  get delivery(): DeliveryState {
    if (this.status !== null) return this.responded ? 'responded' : 'rejected';
    return this.connectMs === null ? 'unsent' : 'no response';
  }

  /** The upstream has started a successful response. */
  get responded(): boolean {
    return this.status !== null && this.status >= 200 && this.status < 300;
  }

  /** Connected; the request is being sent. */
  connected(): void {
    this.connectMs ??= this.elapsed();
  }

  /** The request was handed to the connection. */
  sent(): void {
    this.isSent = true;
  }

  /** The upstream has the whole prompt and has not rejected it, so it will charge for it. */
  get isPromptSpent(): boolean {
    return this.responded || (this.isSent && this.status === null && this.outcome === undefined);
  }

  /** @param requestId the upstream's request ID */
  headers(status: number, requestId = ''): void {
    this.headersMs = this.elapsed();
    this.status = status;
    this.upstreamRequestId = requestId;
    if (this.responded) this.onResponse?.();
  }

  /** First byte of the body; later calls have no effect. */
  firstByte(): void {
    this.firstByteMs ??= this.elapsed();
  }

  firstToken(): void {
    this.firstTokenMs ??= this.elapsed();
  }

  /**
   * The first call counts; attempts that are never finished were cancelled.
   * @param outcome `succeeded` or the error kind
   * @param reason error message without quotes of the request
   */
  finish(outcome: string, reason = ''): void {
    if (this.outcome !== undefined) return;
    this.outcome = outcome;
    this.reason = reason.slice(0, MAX_REASON_CHARACTERS);
    this.durationMs = this.elapsed();
  }

  /** @param cost upstream cost in nanos; undefined: unknown */
  row(cost: bigint | undefined): AttemptRow {
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
      upstream_cost: cost?.toString() ?? null,
      upstream_request_id: this.upstreamRequestId,
      transport: this.target.transport ?? 'http',
    };
  }

  private elapsed(): number {
    return Math.round(monotonicMs() - this.startedMs);
  }
}
