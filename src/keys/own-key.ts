import type { ApiKey } from './api-key.js';

/** What can be said of a key's use, in the order of how much it matters. */
export const KEY_CONDITIONS = [
  'deleted',
  'disabled',
  'expired',
  'used-up',
  'near-quota',
  'expires-soon',
  'enabled',
] as const;

/**
 * - `used-up`: nothing is left of its quota or of a budget; `near-quota`: less than a fifth of one is
 * - `expires-soon`: within a week
 * - `enabled`: it is accepted now, and something is left of every limit
 */
export type KeyCondition = (typeof KEY_CONDITIONS)[number];

/** A key as its owner's pages show it. */
export interface OwnKey extends ApiKey {
  /** Raised by every change; settings are saved over the version that they were made from. */
  readonly version: number;
  /** The group that its calls are billed under: its own, else the account's. */
  readonly group: string;
  /** At least one; the one that matters most in front. */
  readonly conditions: readonly KeyCondition[];
  /** When its last call came, refused ones included; undefined: it has none in the record. */
  readonly lastUsedAt: Date | undefined;
}

/** Which of an account's keys are looked for. */
export interface KeyFilter {
  /** Part of the name, or of the first and last characters that are shown of a secret. */
  readonly text?: string | undefined;
  /** As in `OwnKey`. */
  readonly group?: string | undefined;
  /** Left out: any but deleted. */
  readonly condition?: KeyCondition | undefined;
}

/** A place in the list, newest key first: ids sort by the time they were made. */
export interface KeyPosition {
  /** Keys older than this one. */
  readonly before?: string | undefined;
  /** Keys newer than this one. */
  readonly after?: string | undefined;
}

export interface KeyPage {
  /** Newest first. */
  readonly keys: readonly OwnKey[];
  readonly newer: boolean;
  readonly older: boolean;
}
