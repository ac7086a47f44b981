import { Flow, type Interruption, type StreamRenderer, type StreamTail, Waits } from '../protocols/contract/index.js';
import { type AppError, monotonicMs } from '../platform/shared/index.js';

const WARNINGS = 'x-relay-warnings';

/** What the writer of a reply must know of the answer. */
export interface ReplyFacts {
  readonly flow: Flow;
  readonly headers: Readonly<Record<string, string>>;
  readonly tail: StreamTail;
  /** The end of a stream that fails, where the answer has a renderer of its own. */
  failure(error: AppError): Uint8Array | undefined;
  /** Where the time until now went, for `server-timing`; undefined before an upstream has answered. Asked as the head leaves. */
  begun(): string | undefined;
}

/** What the engine and the reply writer share of one call while its answer passes. */
export class CallContext implements ReplyFacts {
  /** What the answer has stood still for. */
  readonly waits: Waits;
  /** Back-pressure from the client to whichever upstream is being read. */
  readonly flow: Flow;
  /** Reply headers that only the engine knows; sent with the first byte. */
  readonly headers: Record<string, string> = {};
  /** Milliseconds of the call's life so far, for `server-timing`. */
  readonly timing: { admitMs?: number; upstreamMs?: number } = {};
  /** The first and the last event that the upstream has sent. */
  tail: StreamTail = {};
  /** Writes the stream of the attempt that runs, when it is a translated one. */
  renderer: StreamRenderer | undefined;
  /** Told what the relay itself took, in milliseconds, when the head of an answer leaves. */
  onBegun: ((relayMs: number) => void) | undefined;
  /** Told when nothing needs the whole request body any more, because no other channel can be tried. */
  onBodySpent: (() => void) | undefined;
  private isCommitted = false;
  private failed: Uint8Array | undefined;

  constructor(
    readonly interruption: Interruption,
    /** When the call arrived, by the monotonic clock. */
    readonly startedMs: number,
  ) {
    this.waits = new Waits(startedMs);
    this.flow = new Flow(this.waits);
  }

  /** Something of an answer has been let go. */
  get committed(): boolean {
    return this.isCommitted;
  }

  commit(): void {
    if (this.isCommitted) return;
    this.isCommitted = true;
    this.onBodySpent?.();
  }

  /** Another upstream is asked. */
  begin(): void {
    this.tail = {};
    this.renderer = undefined;
  }

  /** What was lost on the way to the upstream, and of the answer on the way back; for the client, with the first byte. */
  set warnings(warnings: string | undefined) {
    if (warnings === undefined) delete this.headers[WARNINGS];
    else this.headers[WARNINGS] = warnings;
  }

  /** The same for every client of the answer. */
  failure(error: AppError): Uint8Array | undefined {
    return (this.failed ??= this.renderer && Buffer.from(this.renderer.fail(error)));
  }

  /**
   * Where the time until the first byte of an answer went: admission, the upstream, and the relay itself, in
   * milliseconds. Undefined before an upstream has answered.
   */
  begun(): string | undefined {
    const { admitMs = 0, upstreamMs } = this.timing;
    if (upstreamMs === undefined) return undefined;
    const relayMs = Math.max(0, monotonicMs() - this.startedMs - admitMs - upstreamMs);
    // Of several clients that share it the first is looked at: the others came when it was under way.
    this.onBegun?.(relayMs);
    this.onBegun = undefined;
    return `admit;dur=${admitMs.toFixed(1)}, upstream;dur=${upstreamMs.toFixed(1)}, relay;dur=${relayMs.toFixed(1)}`;
  }
}
