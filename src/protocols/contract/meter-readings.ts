import { AppError, isJsonObject, type JsonObject } from '../../platform/shared/index.js';
import type { CallHead, TokenUsage } from './call.js';
import { classifyInnerError } from './classify-upstream.js';
import { MemberFinder } from './member-finder.js';
import type { CreatedState, ScopedKind } from './request-demands.js';
import type { CallSignal } from './signals.js';
import { eventTypeReader, outputOf, parseData, type SseEvent } from './sse-event.js';
import type { MeterReading } from './upstream-adapter.js';

// What the meters of all dialects say alike.

const ERROR = new MemberFinder('error');

/** For a meter that has nothing to add to a stream, or nothing to leave of an event. */
export const NO_BYTES = new Uint8Array(0);

/** The event is the client's as it is, and says nothing here. */
export const PASSED: MeterReading = { signals: [], last: false };

/** The event is not for the client, and says nothing here. */
export const HIDDEN: MeterReading = { signals: [], last: false, replacement: NO_BYTES };

const KEEPS_ALIVE: MeterReading = { ...PASSED, keepsAlive: true };
const KEEP_ALIVES = ['ping', 'keepalive'];
const keepAliveOf = eventTypeReader(KEEP_ALIVES.join('|'));

/** Whether events of this type only keep the connection open. */
export const isKeepAlive = (type: string): boolean => KEEP_ALIVES.includes(type);

/** For data that is no JSON where the dialect promises it: what the client would miss cannot be known. */
export const unreadableEvent = (): AppError =>
  new AppError('upstream_error', 'The upstream sent an event that is not a JSON object.', { failover: true });

/** For a stream that ends before its answer does. */
export const truncated = (): AppError =>
  new AppError('upstream_truncated', 'The upstream closed the stream before the response was complete.', {
    failover: true,
  });

/**
 * For an event that the dialect's meter does not know: future events pass, but an error in another dialect's form is
 * one all the same.
 * @throws AppError when the event is the upstream's error
 */
export function passUnlessError(event: SseEvent): MeterReading {
  if (keepAliveOf(event) !== undefined) return KEEPS_ALIVE;
  if (!ERROR.hasValue(event.text)) return PASSED;
  const error = parseData(event)?.['error'];
  if (error) throw classifyInnerError({ error });
  return PASSED;
}

/**
 * What a whole answer's output comes to, roughly, when the upstream does not report it.
 * @param texts finds the members whose strings are the answer
 */
function outputIn(body: Uint8Array, texts: MemberFinder): CallSignal {
  return outputOf(texts.stringsIn(latin1(body)));
}

/**
 * What a whole answer says of its usage. Its output is counted as well where the report says nothing of it, or more than
 * can be seen: a token is a byte at least.
 * @param texts as for `outputIn`
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

/** Bytes as text of one character each: names and punctuation can be looked for in it, and bytes be counted. */
export const latin1 = (body: Uint8Array): string =>
  Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('latin1');

/** No vendor's ids are longer. */
const MAX_ID_LENGTH = 512;
/** The last moment that a timestamp of four digits for the year can name. */
const LAST_MS = Date.UTC(9999, 11, 31);

/** None when the id is not a string of 1 to 512 characters. @param endsAt as the upstream writes it: RFC 3339 */
export function createdState(kind: ScopedKind, id: unknown, endsAt?: unknown): readonly CreatedState[] {
  if (typeof id !== 'string' || id === '' || id.length > MAX_ID_LENGTH || id.includes('\0')) return [];
  const endsAtMs = typeof endsAt === 'string' ? Date.parse(endsAt) : Number.NaN;
  return [{ kind, id, ...(endsAtMs > 0 && endsAtMs < LAST_MS && { endsAt: endsAtMs }) }];
}

/** What a meter says of created state: nothing where there is none. */
export const stateSignals = (created: readonly CreatedState[]): readonly CallSignal[] =>
  created.length === 0 ? [] : [{ type: 'state', created }];

/** What a whole response says of created state. Parses only where the request may have had some created. */
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
    // The client gets it as it is, and finds the same.
    return [];
  }
}
