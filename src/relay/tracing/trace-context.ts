import { randomBytes } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { maskKeys, monotonicMs } from '../../platform/shared/index.js';
import type { CallTrace, EndedCall, TracedUpstream } from '../../protocols/contract/index.js';
import type { ResponseEnd } from '../call-context.js';

/** Position in a trace (W3C Trace Context). */
export interface TraceContext {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** Parent span: 16 hexadecimal digits. */
  readonly spanId: string;
  readonly flags: number;
  /** Vendor state; undefined if absent or invalid. */
  readonly state: string | undefined;
}

export const SAMPLED = 1;
/** Sampled and random trace ID: the flags of version 00. Other bits of later versions are ignored. */
const KNOWN_FLAGS = 3;

const PARENT =
  /^(?<version>[0-9a-f]{2})-(?<traceId>[0-9a-f]{32})-(?<spanId>[0-9a-f]{16})-(?<flags>[0-9a-f]{2})(?<more>-.*)?$/;
const ZEROS = /^0+$/;

/** The minimum that must be propagated, in characters; longer lists are truncated. */
const MAX_STATE_LENGTH = 512;
/** Longer entries are removed first. */
const LONG_ENTRY = 128;
const MAX_ENTRIES = 32;
const ENTRY =
  /^(?:[a-z][a-z0-9_\-*/]{0,255}|[a-z0-9][a-z0-9_\-*/]{0,240}@[a-z][a-z0-9_\-*/]{0,13})=[ -+\--<>-~]{0,255}[!-+\--<>-~]$/;

/** Undefined if absent or invalid. */
export function traceContextOf(headers: IncomingHttpHeaders): TraceContext | undefined {
  const { traceparent } = headers;
  // Node joins repeated headers with commas, which are invalid here.
  const parts = typeof traceparent === 'string' ? PARENT.exec(traceparent.trim())?.groups : undefined;
  if (parts === undefined) return undefined;
  const { version = '', traceId = '', spanId = '', flags = '', more } = parts;
  if (version === 'ff' || (version === '00' && more !== undefined)) return undefined;
  if (ZEROS.test(traceId) || ZEROS.test(spanId)) return undefined;
  const { tracestate } = headers;
  const state = Array.isArray(tracestate) ? tracestate.join(',') : tracestate;
  return { traceId, spanId, flags: Number.parseInt(flags, 16) & KNOWN_FLAGS, state: traceState(state ?? '') };
}

/** Headers for the next request. */
export function headersOf({ traceId, spanId, flags, state }: TraceContext): Record<string, string> {
  const traceparent = `00-${traceId}-${spanId}-${flags.toString(16).padStart(2, '0')}`;
  return { traceparent, ...(state !== undefined && { tracestate: state }) };
}

export const newSpanId = (): string => newId(8);
export const newTraceId = (): string => newId(16);

/** All zeros are invalid. */
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

/** Removes whole entries: long ones first, then the oldest, which are last. */
function shortened(entries: readonly string[]): readonly string[] {
  const isShort = (some: readonly string[]): boolean => some.join(',').length <= MAX_STATE_LENGTH;
  if (isShort(entries)) return entries;
  let kept = entries.filter((entry) => entry.length <= LONG_ENTRY);
  while (!isShort(kept)) kept = kept.slice(0, -1);
  return kept;
}

/** A sent upstream request. */
export interface SentAttempt extends TracedUpstream {
  readonly spanId: string;
  /** Unix ms. */
  readonly startedAt: number;
}

/** A call that has ended and whose response was sent or abandoned. Times in Unix ms. */
export interface TracedCall extends EndedCall {
  readonly traceId: string;
  readonly spanId: string;
  /** Undefined if the trace starts here. */
  readonly parent: TraceContext | undefined;
  readonly startedAt: number;
  readonly endedAt: number;
  readonly method: string;
  readonly path: string;
  /** Status of the response; undefined if the client left before it. */
  readonly responseStatus: number | undefined;
  /** By attempt number. */
  readonly sent: ReadonlyMap<number, SentAttempt>;
}

/** A trace that is exported, all at once when complete: running calls have no spans. */
export class RecordedTrace implements CallTrace {
  readonly traceId: string;
  private readonly spanId = newSpanId();
  private readonly startedMs = monotonicMs();
  private readonly startedAt = Date.now();
  private readonly sent = new Map<number, SentAttempt>();
  private ended: EndedCall | undefined;
  private closed: Pick<TracedCall, 'endedAt' | 'responseStatus'> | undefined;

  constructor(
    private readonly parent: TraceContext | undefined,
    private readonly request: Pick<IncomingMessage, 'method' | 'url'>,
    response: ResponseEnd,
    private readonly onComplete: (call: TracedCall) => void,
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
    this.reportWhenComplete();
  }

  private close({ headersSent, statusCode }: ResponseEnd): void {
    this.closed = { endedAt: this.now(), responseStatus: headersSent ? statusCode : undefined };
    this.reportWhenComplete();
  }

  /** Settlement precedes the end of the response, or follows it if the client has left. */
  private reportWhenComplete(): void {
    const { traceId, spanId, parent, startedAt, sent, ended, closed } = this;
    if (ended === undefined || closed === undefined) return;
    const { method = '', url = '' } = this.request;
    const path = maskKeys(url.split('?', 1)[0] ?? '');
    this.onComplete({ ...ended, ...closed, traceId, spanId, parent, startedAt, sent, method, path });
  }

  /** Monotonic within a trace, whatever happens to the system clock. */
  private now(): number {
    return this.startedAt + monotonicMs() - this.startedMs;
  }
}
