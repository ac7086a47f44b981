import { isJsonObject, type JsonObject } from '../../platform/shared/index.js';
import type { CallHead } from './call.js';
import type { CreatedState, ScopedKind } from './request-demands.js';
import type { CallSignal } from './signals.js';

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
