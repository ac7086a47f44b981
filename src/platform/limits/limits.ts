import { Column } from 'typeorm';
import { AppError } from '../shared/index.js';

/** Absent limits do not apply. */
export interface Limits {
  readonly requestsPerMinute?: number;
  /** Prompt and response together. */
  readonly tokensPerMinute?: number;
  /** Concurrent calls. */
  readonly concurrency?: number;
}

export const NO_LIMITS: Limits = {};

/** A change of limits: null removes one, undefined keeps it. */
export type LimitsChange = { readonly [Name in keyof Limits]?: number | null | undefined };

export function changedLimits(limits: Limits, change: LimitsChange): Limits {
  const changed = Object.entries({ ...limits, ...defined(change) }).filter(([, limit]) => limit !== null);
  return changed.length === 0 ? NO_LIMITS : Object.fromEntries(changed);
}

const defined = (change: LimitsChange): LimitsChange =>
  Object.fromEntries(Object.entries(change).filter(([, limit]) => limit !== undefined));

/** Subjects of limits. */
export const LIMITED = ['key', 'account', 'group', 'address'] as const;
export type Limited = (typeof LIMITED)[number];

/** Those with default limits; each group has its own limits. */
export const DEFAULT_LIMITED = ['key', 'account', 'address'] as const satisfies readonly Limited[];

/** Default limits per kind; each limit is overridden separately. */
export type DefaultLimits = Readonly<Record<(typeof DEFAULT_LIMITED)[number], Limits>>;

export const NO_DEFAULT_LIMITS: DefaultLimits = { key: NO_LIMITS, account: NO_LIMITS, address: NO_LIMITS };

/** The effective limits: each one's own, else the default. */
export const ownOrDefault = (own: Limits, defaults: Limits): Limits =>
  own === NO_LIMITS ? defaults : { ...defaults, ...own };

/** Max value of any limit. */
export const LARGEST_LIMIT = 1_000_000_000;

/** Names of the limits in the catalog file and in API responses. */
const LIMIT_NAMES = {
  requestsPerMinute: 'requests_per_minute',
  tokensPerMinute: 'tokens_per_minute',
  concurrency: 'concurrency',
} as const satisfies Record<keyof Limits, string>;

type LimitName = (typeof LIMIT_NAMES)[keyof Limits];

/** For API responses: null where there is no limit. */
export const renderLimits = (limits: Limits): Readonly<Record<LimitName, number | null>> => ({
  requests_per_minute: limits.requestsPerMinute ?? null,
  tokens_per_minute: limits.tokensPerMinute ?? null,
  concurrency: limits.concurrency ?? null,
});

/** For people: `60 calls/min, 4 at a time`; empty without limits. */
export function describeLimits({ requestsPerMinute, tokensPerMinute, concurrency }: Limits): string {
  const texts = [
    requestsPerMinute !== undefined && `${counted(requestsPerMinute, 'call')}/min`,
    tokensPerMinute !== undefined && `${counted(tokensPerMinute, 'token')}/min`,
    concurrency !== undefined && `${concurrency.toLocaleString('en-US')} at a time`,
  ];
  return texts.filter((text) => text !== false).join(', ');
}

const counted = (number: number, thing: string): string =>
  `${number.toLocaleString('en-US')} ${thing}${number === 1 ? '' : 's'}`;

/** Columns of limits in the rows of keys, accounts and groups; null for no limit. */
export class LimitColumns {
  @Column('integer', { name: 'requests_per_minute', nullable: true })
  readonly requestsPerMinute: number | null;

  @Column('integer', { name: 'tokens_per_minute', nullable: true })
  readonly tokensPerMinute: number | null;

  @Column('integer', { nullable: true })
  readonly concurrency: number | null;
}

/** Returns the same object for all rows without limits, which makes that cheap to detect. */
export function limitsIn({ requestsPerMinute, tokensPerMinute, concurrency }: LimitColumns): Limits {
  if (requestsPerMinute === null && tokensPerMinute === null && concurrency === null) return NO_LIMITS;
  return {
    ...(requestsPerMinute !== null && { requestsPerMinute }),
    ...(tokensPerMinute !== null && { tokensPerMinute }),
    ...(concurrency !== null && { concurrency }),
  };
}

/** @throws InvalidLimit unless each limit is an integer from 1 to `LARGEST_LIMIT` */
export const limitColumns = (limits: Limits): LimitColumns => ({
  requestsPerMinute: possible(limits, 'requestsPerMinute'),
  tokensPerMinute: possible(limits, 'tokensPerMinute'),
  concurrency: possible(limits, 'concurrency'),
});

function possible(limits: Limits, name: keyof Limits): number | null {
  const limit = limits[name] ?? null;
  if (limit !== null && (!Number.isInteger(limit) || limit < 1 || limit > LARGEST_LIMIT))
    throw new InvalidLimit(LIMIT_NAMES[name]);
  return limit;
}

export class InvalidLimit extends AppError {
  constructor(name: string) {
    super(
      'invalid_request',
      `The limit ${name} must be an integer from 1 to ${LARGEST_LIMIT.toLocaleString('en-US')}.`,
      { param: name },
    );
  }
}

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

/** The amounts that one call takes from the limits. */
export interface Demand {
  /** The call's id. */
  readonly id: string;
  readonly subjects: readonly LimitSubject[];
  /** Estimated tokens of the prompt. */
  readonly tokens: number;
  /** Whether the call occupies a slot until it ends. */
  readonly runs: boolean;
}

export const isUnlimited = (limits: Limits): boolean =>
  limits.requestsPerMinute === undefined && limits.tokensPerMinute === undefined && limits.concurrency === undefined;
