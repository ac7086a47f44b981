import type { Limited, Limits } from './limits.js';

export type LimitKind = 'requests' | 'tokens' | 'concurrency';

/** Someone whose calls are counted, with their limits. */
export interface LimitSubject {
  readonly kind: Limited;
  /** Unique within its kind. */
  readonly id: string;
  /** Display name. */
  readonly name: string;
  readonly limits: Limits;
}

/** What one call takes from the limits. */
export interface Demand {
  /** The call's id. */
  readonly id: string;
  readonly subjects: readonly LimitSubject[];
  /** Estimated tokens of the prompt. */
  readonly tokens: number;
  /** Whether the call occupies a place until it ends. */
  readonly runs: boolean;
}

export const isUnlimited = (limits: Limits): boolean =>
  limits.requestsPerMinute === undefined && limits.tokensPerMinute === undefined && limits.concurrency === undefined;
