import type { ApiKey } from './api-key.js';

/** Conditions of a key, most important first. */
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
  /** The holder in an organization, by name; empty: a service key, or a key of a person. */
  readonly member: string;
  readonly memberId: string | undefined;
  readonly teamId: string | undefined;
  /** Incremented by every change; settings are saved against the version they were based on. */
  readonly version: number;
  /** The group that its calls are billed under: its own, else the account's. */
  readonly group: string;
  /** Not empty; the most important first. */
  readonly conditions: readonly KeyCondition[];
  /** Time of the last call, including rejected ones; undefined if the log has none. */
  readonly lastUsedAt: Date | undefined;
}

/** Filter of an account's keys. */
export interface KeyFilter {
  /** Substring of the name, or of the visible characters of the secret. */
  readonly text?: string | undefined;
  /** As in `OwnKey`. */
  readonly group?: string | undefined;
  /** ID of a member of the organization; null: service keys. */
  readonly memberId?: string | null | undefined;
  /** Default: all but deleted. */
  readonly condition?: KeyCondition | undefined;
}

/** Position in the list, newest first: IDs sort by creation time. */
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
