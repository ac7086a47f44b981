import type { IncomingMessage, ServerResponse } from 'node:http';
import type { CallTrace, EndedCall, TracedUpstream } from '../../protocols/contract/index.js';
import { maskKeys, monotonicMs } from '../../platform/shared/index.js';
import { headersOf, newSpanId, newTraceId, SAMPLED, type TraceContext } from './trace-context.js';

/** A request to an upstream, as it was sent. */
export interface SentAttempt extends TracedUpstream {
  readonly spanId: string;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
}

/** A call that has ended and whose client has its answer, or has left. Times in milliseconds since 1970. */
export interface TracedCall extends EndedCall {
  readonly traceId: string;
  readonly spanId: string;
  /** Whose part of the trace it is; undefined when the trace begins with it. */
  readonly parent: TraceContext | undefined;
  readonly startedAt: number;
  readonly endedAt: number;
  readonly method: string;
  readonly path: string;
  /** What its client was answered with; undefined when it left before. */
  readonly answeredWith: number | undefined;
  /** By ordinal. */
  readonly sent: ReadonlyMap<number, SentAttempt>;
}

/** A trace of which a collector is told. All of it at once, when everything is known: a running call has no spans to keep. */
export class RecordedTrace implements CallTrace {
  readonly traceId: string;
  private readonly spanId = newSpanId();
  private readonly startedMs = monotonicMs();
  private readonly startedAt = Date.now();
  private readonly sent = new Map<number, SentAttempt>();
  private ended: EndedCall | undefined;
  private closed: Pick<TracedCall, 'endedAt' | 'answeredWith'> | undefined;

  constructor(
    private readonly parent: TraceContext | undefined,
    private readonly request: Pick<IncomingMessage, 'method' | 'url'>,
    response: ServerResponse,
    private readonly tell: (call: TracedCall) => void,
  ) {
    this.traceId = parent?.traceId ?? newTraceId();
    response.once('close', () => this.close(response));
  }

  attempt(ordinal: number, upstream: TracedUpstream): Readonly<Record<string, string>> {
    const spanId = newSpanId();
    this.sent.set(ordinal, { spanId, startedAt: this.now(), ...upstream });
    const { flags = SAMPLED, state } = this.parent ?? {};
    return headersOf({ traceId: this.traceId, spanId, flags, state });
  }

  end(call: EndedCall): void {
    if (this.ended !== undefined) return;
    this.ended = call;
    this.tellWhole();
  }

  private close({ headersSent, statusCode }: ServerResponse): void {
    this.closed = { endedAt: this.now(), answeredWith: headersSent ? statusCode : undefined };
    this.tellWhole();
  }

  /** A call is settled before its client has the end of its answer; behind it when the client has left. */
  private tellWhole(): void {
    const { traceId, spanId, parent, startedAt, sent, ended, closed } = this;
    if (ended === undefined || closed === undefined) return;
    const { method = '', url = '' } = this.request;
    const path = maskKeys(url.split('?', 1)[0] ?? '');
    this.tell({ ...ended, ...closed, traceId, spanId, parent, startedAt, sent, method, path });
  }

  /** Of the same pace for all times of a trace, whatever becomes of the machine's clock. */
  private now(): number {
    return this.startedAt + monotonicMs() - this.startedMs;
  }
}
