import type { Limits } from './limits.js';

/** No limit is higher. */
export const LARGEST_LIMIT = 1_000_000_000;

/** Limits by the names that the catalog file and programs know them by. */
export const LIMIT_NAMES = {
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
