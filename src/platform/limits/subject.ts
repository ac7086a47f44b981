import type { Limited, Limits } from './limits.js';

export type LimitKind = 'requests' | 'tokens' | 'concurrency';

/** Whom a call is counted for, and how much they may. */
export interface Subject {
  readonly kind: Limited;
  /** Of its own within the kind. */
  readonly id: string;
  /** What people call it. */
  readonly name: string;
  readonly limits: Limits;
}

/** What one call asks of the limits. */
export interface Demand {
  /** The call's id. */
  readonly id: string;
  readonly subjects: readonly Subject[];
  /** That the prompt is thought to have. */
  readonly tokens: number;
  /** Whether it runs for a while, and takes a place until it ends. */
  readonly runs: boolean;
}

export const isUnlimited = (limits: Limits): boolean =>
  limits.requestsPerMinute === undefined && limits.tokensPerMinute === undefined && limits.concurrency === undefined;
