import { Flow, type Interruption, type StreamRenderer, type StreamTail, Waits } from '../protocols/contract/index.js';
import { type AppError, monotonicMs } from '../platform/shared/index.js';

const WARNINGS = 'x-relay-warnings';

/** What the reply writer needs to know about the response. */
export interface ReplyFacts {
  readonly flow: Flow;
  readonly headers: Readonly<Record<string, string>>;
  readonly tail: StreamTail;
  /** The end of a failed stream, if the response has its own renderer. */
  failure(error: AppError): Uint8Array | undefined;
  /** The `server-timing` header, computed when the head is sent; undefined before an upstream has responded. */
  begun(): string | undefined;
}

/** State shared by the engine and the reply writer during one call. */
export class CallContext implements ReplyFacts {
  /** What the response waited for. */
  readonly waits: Waits;
  /** Back-pressure from the client to the current upstream. */
  readonly flow: Flow;
  /** Response headers set by the engine, sent with the first byte. */
  readonly headers: Record<string, string> = {};
  /** Durations for `server-timing`, in ms. */
  readonly timing: { admitMs?: number; upstreamMs?: number } = {};
  /** First and last event of the upstream. */
  tail: StreamTail = {};
  /** Renderer of the current attempt, if translated. */
  renderer: StreamRenderer | undefined;
  /** Called with the relay's own latency in ms when the head is sent. */
  onBegun: ((relayMs: number) => void) | undefined;
  /** Called when no other channel can be tried, so that the body is no longer needed. */
  onBodySpent: (() => void) | undefined;
  private isCommitted = false;
  private failed: Uint8Array | undefined;

  constructor(
    readonly interruption: Interruption,
    /** Start of the call, monotonic. */
    readonly startedMs: number,
  ) {
    this.waits = new Waits(startedMs);
    this.flow = new Flow(this.waits);
  }

  /** Part of the response was sent. */
  get committed(): boolean {
    return this.isCommitted;
  }

  commit(): void {
    if (this.isCommitted) return;
    this.isCommitted = true;
    this.onBodySpent?.();
  }

  /** A new attempt begins. */
  begin(): void {
    this.tail = {};
    this.renderer = undefined;
  }

  /** Translation warnings about request and response, sent with the first byte. */
  set warnings(warnings: string | undefined) {
    if (warnings === undefined) delete this.headers[WARNINGS];
    else this.headers[WARNINGS] = warnings;
  }

  /** The same for all clients that share the response. */
  failure(error: AppError): Uint8Array | undefined {
    return (this.failed ??= this.renderer && Buffer.from(this.renderer.fail(error)));
  }

  /** Time to first byte by part: admission, upstream, relay, in ms. Undefined before an upstream has responded. */
  begun(): string | undefined {
    const { admitMs = 0, upstreamMs } = this.timing;
    if (upstreamMs === undefined) return undefined;
    const relayMs = Math.max(0, monotonicMs() - this.startedMs - admitMs - upstreamMs);
    // Only for the first client of a shared response: others joined later.
    this.onBegun?.(relayMs);
    this.onBegun = undefined;
    return `admit;dur=${admitMs.toFixed(1)}, upstream;dur=${upstreamMs.toFixed(1)}, relay;dur=${relayMs.toFixed(1)}`;
  }
}
