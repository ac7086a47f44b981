/** How much may be asked for. What is absent is not limited. */
export interface Limits {
  readonly requestsPerMinute?: number;
  /** Tokens of prompt and answer together. */
  readonly tokensPerMinute?: number;
  /** Calls that run at the same time. */
  readonly concurrency?: number;
}

export const NO_LIMITS: Limits = {};

/** What limits are to be: null lifts one, undefined leaves it as it is. */
export type LimitsChange = { readonly [Name in keyof Limits]?: number | null | undefined };

export function changedLimits(limits: Limits, change: LimitsChange): Limits {
  const changed = Object.entries({ ...limits, ...defined(change) }).filter(([, limit]) => limit !== null);
  return changed.length === 0 ? NO_LIMITS : Object.fromEntries(changed);
}

const defined = (change: LimitsChange): LimitsChange =>
  Object.fromEntries(Object.entries(change).filter(([, limit]) => limit !== undefined));

/** Whom limits are set for. */
export const LIMITED = ['key', 'account', 'group', 'address'] as const;
export type Limited = (typeof LIMITED)[number];

/** Those of them that have usual limits; each group has its own. */
export const DEFAULT_LIMITED = ['key', 'account', 'address'] as const satisfies readonly Limited[];

/** Default limits per kind; each limit is overridden separately. */
export type DefaultLimits = Readonly<Record<(typeof DEFAULT_LIMITED)[number], Limits>>;

export const NO_DEFAULT_LIMITS: DefaultLimits = { key: NO_LIMITS, account: NO_LIMITS, address: NO_LIMITS };

/** What holds of two sets of limits: each one's own, else the usual one. */
export const ownOrDefault = (own: Limits, usual: Limits): Limits => (own === NO_LIMITS ? usual : { ...usual, ...own });
