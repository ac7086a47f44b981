import { Column } from 'typeorm';
import { LimitNotPossible } from './limit.errors.js';
import { LARGEST_LIMIT, LIMIT_NAMES } from './limit-names.js';
import { type Limits, NO_LIMITS } from './limits.js';

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
