import { randomBytes } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { maskKeys, monotonicMs } from '../../platform/shared/index.js';
import type { CallTrace, EndedCall, TracedUpstream } from '../../protocols/contract/index.js';

/** Where a request stands in somebody's trace, as the W3C's Trace Context has it. */
export interface TraceContext {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** The span that the request comes from: 16 hexadecimal digits. */
  readonly spanId: string;
  readonly flags: number;
  /** What vendors along the way have noted; undefined when there is nothing, or it is not as it must be. */
  readonly state: string | undefined;
}

export const SAMPLED = 1;
/** Sampled, and a trace id that is random: what there is of version 00. Other bits of a later version mean nothing here. */
const KNOWN_FLAGS = 3;

const PARENT =
  /^(?<version>[0-9a-f]{2})-(?<traceId>[0-9a-f]{32})-(?<spanId>[0-9a-f]{16})-(?<flags>[0-9a-f]{2})(?<more>-.*)?$/;
const ZEROS = /^0+$/;

/** Longer lists are cut: what must be passed on at least. In characters. */
const MAX_STATE_LENGTH = 512;
/** What is longer goes first. */
const LONG_ENTRY = 128;
const MAX_ENTRIES = 32;
const ENTRY =
  /^(?:[a-z][a-z0-9_\-*/]{0,255}|[a-z0-9][a-z0-9_\-*/]{0,240}@[a-z][a-z0-9_\-*/]{0,13})=[ -+\--<>-~]{0,255}[!-+\--<>-~]$/;

/** Undefined when there is none, or it is not as it must be: then it counts as if there were none. */
export function traceContextOf(headers: IncomingHttpHeaders): TraceContext | undefined {
  const { traceparent } = headers;
  // Several of them are one with commas by now, which no trace has.
  const parts = typeof traceparent === 'string' ? PARENT.exec(traceparent.trim())?.groups : undefined;
  if (parts === undefined) return undefined;
  const { version = '', traceId = '', spanId = '', flags = '', more } = parts;
  if (version === 'ff' || (version === '00' && more !== undefined)) return undefined;
  if (ZEROS.test(traceId) || ZEROS.test(spanId)) return undefined;
  const { tracestate } = headers;
  const state = Array.isArray(tracestate) ? tracestate.join(',') : tracestate;
  return { traceId, spanId, flags: Number.parseInt(flags, 16) & KNOWN_FLAGS, state: traceState(state ?? '') };
}

/** The headers for whoever is asked next. */
export function headersOf({ traceId, spanId, flags, state }: TraceContext): Record<string, string> {
  const traceparent = `00-${traceId}-${spanId}-${flags.toString(16).padStart(2, '0')}`;
  return { traceparent, ...(state !== undefined && { tracestate: state }) };
}

export const newSpanId = (): string => newId(8);
export const newTraceId = (): string => newId(16);

/** All zeros are no id. */
function newId(bytes: number): string {
  const id = randomBytes(bytes).toString('hex');
  return ZEROS.test(id) ? newId(bytes) : id;
}

function traceState(text: string): string | undefined {
  const entries = text
    .split(',')
    .map((entry) => entry.replace(/^[ \t]+|[ \t]+$/g, ''))
    .filter((entry) => entry !== '');
  const keys = new Set(entries.map((entry) => entry.slice(0, entry.indexOf('='))));
  const isGood = entries.length <= MAX_ENTRIES && keys.size === entries.length && entries.every((e) => ENTRY.test(e));
  return isGood ? shortened(entries).join(',') || undefined : undefined;
}

/** Whole entries go: long ones first, then those that were noted first, which stand last. */
function shortened(entries: readonly string[]): readonly string[] {
  const isShort = (some: readonly string[]): boolean => some.join(',').length <= MAX_STATE_LENGTH;
  if (isShort(entries)) return entries;
  let kept = entries.filter((entry) => entry.length <= LONG_ENTRY);
  while (!isShort(kept)) kept = kept.slice(0, -1);
  return kept;
}

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
