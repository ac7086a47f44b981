import { AppError, isJsonObject, type JsonObject } from '../../platform/shared/index.js';
import type { CallHead, CallSignal, TokenUsage } from './call.js';
import { classifyInnerError } from './classify-upstream.js';
import { MemberFinder } from './json-members.js';
import type { CreatedState, ScopedKind } from './request-demands.js';
import { eventTypeReader, outputOf, parseData, type SseEvent } from './sse.js';
import type { MeterReading } from './upstream-adapter.js';

// Readings shared by the meters of all protocols.

const ERROR = new MemberFinder('error');

/** Adds nothing, or replaces an event by nothing. */
export const NO_BYTES = new Uint8Array(0);

/** Passes the event without signals. */
export const PASSED: MeterReading = { signals: [], last: false };

/** Hides the event from the client. */
export const HIDDEN: MeterReading = { signals: [], last: false, replacement: NO_BYTES };

const KEEPS_ALIVE: MeterReading = { ...PASSED, keepsAlive: true };
const KEEP_ALIVES = ['ping', 'keepalive'];
const keepAliveOf = eventTypeReader(KEEP_ALIVES.join('|'));

export const isKeepAlive = (type: string): boolean => KEEP_ALIVES.includes(type);

/** An event with invalid JSON, which the client might depend on. */
export const unreadableEvent = (): AppError =>
  new AppError('upstream_error', 'The upstream sent an event that is not a JSON object.', { failover: true });

export function readData(event: SseEvent): JsonObject {
  const data = parseData(event);
  if (data === undefined) throw unreadableEvent();
  return data;
}

export const truncatedStream = (): AppError =>
  new AppError('upstream_truncated', 'The upstream closed the stream before the response was complete.', {
    failover: true,
  });

/**
 * Passes unknown events, unless they are errors in any protocol's form.
 * @throws AppError when the event is an error
 */
export function passUnlessError(event: SseEvent): MeterReading {
  if (keepAliveOf(event) !== undefined) return KEEPS_ALIVE;
  if (!ERROR.hasValue(event.text)) return PASSED;
  const error = parseData(event)?.['error'];
  if (error) throw classifyInnerError({ error });
  return PASSED;
}

function outputIn(body: Uint8Array, texts: MemberFinder): CallSignal {
  return outputOf(texts.stringsIn(latin1(body)));
}

/**
 * Usage of a complete response. Output is estimated if the report lacks it or exceeds the visible bytes.
 * @param texts finds the members with output
 */
export function usageSignals(
  usage: TokenUsage | undefined,
  body: Uint8Array,
  texts: MemberFinder,
): readonly CallSignal[] {
  if (usage === undefined) return [outputIn(body, texts)];
  const isSeen = usage.output > 0 && usage.output <= body.length && usage.irregular === undefined;
  return [...(isSeen ? [] : [outputIn(body, texts)]), { type: 'usage', usage }];
}

/** One character per byte, for searching ASCII. */
export const latin1 = (body: Uint8Array): string =>
  Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('latin1');

/** Longer than any vendor's IDs. */
const MAX_ID_LENGTH = 512;
const LAST_MS = Date.UTC(9999, 11, 31);

/** Empty unless the ID is a string of 1 to 512 characters. @param endsAt RFC 3339 */
export function createdState(kind: ScopedKind, id: unknown, endsAt?: unknown): readonly CreatedState[] {
  if (typeof id !== 'string' || id === '' || id.length > MAX_ID_LENGTH || id.includes('\0')) return [];
  const endsAtMs = typeof endsAt === 'string' ? Date.parse(endsAt) : Number.NaN;
  return [{ kind, id, ...(endsAtMs > 0 && endsAtMs < LAST_MS && { endsAt: endsAtMs }) }];
}

export const stateSignals = (created: readonly CreatedState[]): readonly CallSignal[] =>
  created.length === 0 ? [] : [{ type: 'state', created }];

/** Parses the response only if the request may have created state. */
export function createdIn(
  { demands }: Pick<CallHead, 'demands'>,
  body: Uint8Array,
  read: (response: JsonObject) => readonly CreatedState[],
): readonly CallSignal[] {
  if (demands?.createsState !== true) return [];
  try {
    const response: unknown = JSON.parse(Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('utf8'));
    return isJsonObject(response) ? stateSignals(read(response)) : [];
  } catch {
    // Unparsable: passed to the client as is.
    return [];
  }
}
