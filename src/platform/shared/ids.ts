import { randomFillSync } from 'node:crypto';
import { v7 } from 'uuid';

/**
 * What an id names: an account, a key, a request, a ledger entry, a redemption code, a batch of these, a channel, a price version, a
 * process, a session, a verification, a registration, an invitation, a change, a top-up, a problem of a payment, a
 * notice about a key. The prefix lets people tell a request from a key at a glance.
 */
export type IdPrefix =
  | 'acc'
  | 'key'
  | 'req'
  | 'led'
  | 'cod'
  | 'bat'
  | 'chn'
  | 'cst'
  | 'prc'
  | 'prs'
  | 'ses'
  | 'ver'
  | 'reg'
  | 'inv'
  | 'aud'
  | 'top'
  | 'prb'
  | 'ntc';

/** Bytes of a UUID. */
const UUID_BYTES = 16;
/** Taken from the system for many ids at once: asking it costs more than all the rest of an id. */
const randomness = Buffer.alloc(UUID_BYTES * 256);
let used = randomness.length;
const uuid = Buffer.alloc(UUID_BYTES);

/** `req_` and 32 hexadecimal digits: a UUIDv7, so that ids sort by the millisecond they were made in. */
export function newId(prefix: IdPrefix, epochMs: number): string {
  if (used === randomness.length) {
    randomFillSync(randomness);
    used = 0;
  }
  const random = randomness.subarray(used, (used += UUID_BYTES));
  return `${prefix}_${v7({ msecs: epochMs, random }, uuid).toString('hex')}`;
}

/** The millisecond since 1970 that an id was made in; undefined when the text is not one of our ids. */
export function idTime(id: string): number | undefined {
  const match = /^[a-z]{3}_([0-9a-f]{12})7[0-9a-f]{19}$/.exec(id);
  return match?.[1] === undefined ? undefined : Number.parseInt(match[1], 16);
}
