import { randomBytes } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

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
