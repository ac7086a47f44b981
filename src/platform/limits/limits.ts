import { Column } from 'typeorm';
import { AppError } from '../shared/index.js';

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

/** No limit is higher. */
export const LARGEST_LIMIT = 1_000_000_000;

/** Limits by the names that the catalog file and programs know them by. */
const LIMIT_NAMES = {
  requestsPerMinute: 'requests_per_minute',
  tokensPerMinute: 'tokens_per_minute',
  concurrency: 'concurrency',
} as const satisfies Record<keyof Limits, string>;

type LimitName = (typeof LIMIT_NAMES)[keyof Limits];

/** As programs read them: null where there is no such limit. */
export const renderLimits = (limits: Limits): Readonly<Record<LimitName, number | null>> => ({
  requests_per_minute: limits.requestsPerMinute ?? null,
  tokens_per_minute: limits.tokensPerMinute ?? null,
  concurrency: limits.concurrency ?? null,
});

/** As people read them: `60 calls a minute, 4 at a time`; empty when there are none. */
export function describeLimits({ requestsPerMinute, tokensPerMinute, concurrency }: Limits): string {
  const texts = [
    requestsPerMinute !== undefined && `${counted(requestsPerMinute, 'call')} a minute`,
    tokensPerMinute !== undefined && `${counted(tokensPerMinute, 'token')} a minute`,
    concurrency !== undefined && `${concurrency.toLocaleString('en-US')} at a time`,
  ];
  return texts.filter((text) => text !== false).join(', ');
}

const counted = (number: number, thing: string): string =>
  `${number.toLocaleString('en-US')} ${thing}${number === 1 ? '' : 's'}`;

/** Limits as the rows of keys, accounts and groups have them; null where there is none. */
export class LimitColumns {
  @Column('integer', { name: 'requests_per_minute', nullable: true })
  readonly requestsPerMinute: number | null;

  @Column('integer', { name: 'tokens_per_minute', nullable: true })
  readonly tokensPerMinute: number | null;

  @Column('integer', { nullable: true })
  readonly concurrency: number | null;
}

/** The very same object for all who have none, so that it can be told by looking at it. */
export function limitsIn({ requestsPerMinute, tokensPerMinute, concurrency }: LimitColumns): Limits {
  if (requestsPerMinute === null && tokensPerMinute === null && concurrency === null) return NO_LIMITS;
  return {
    ...(requestsPerMinute !== null && { requestsPerMinute }),
    ...(tokensPerMinute !== null && { tokensPerMinute }),
    ...(concurrency !== null && { concurrency }),
  };
}

/** @throws LimitNotPossible for what is no whole number from 1 to `LARGEST_LIMIT` */
export const limitColumns = (limits: Limits): LimitColumns => ({
  requestsPerMinute: possible(limits, 'requestsPerMinute'),
  tokensPerMinute: possible(limits, 'tokensPerMinute'),
  concurrency: possible(limits, 'concurrency'),
});

function possible(limits: Limits, name: keyof Limits): number | null {
  const limit = limits[name] ?? null;
  if (limit !== null && (!Number.isInteger(limit) || limit < 1 || limit > LARGEST_LIMIT))
    throw new LimitNotPossible(LIMIT_NAMES[name]);
  return limit;
}

export class LimitNotPossible extends AppError {
  constructor(name: string) {
    super(
      'invalid_request',
      `The limit ${name} must be an integer from 1 to ${LARGEST_LIMIT.toLocaleString('en-US')}.`,
      { param: name },
    );
  }
}
