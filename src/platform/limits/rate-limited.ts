import { AppError } from '../shared/index.js';
import type { Refusal } from './counts.js';
import type { LimitKind, LimitSubject } from './limits.js';

/** Longer waits are capped: the client retries and gets a new estimate. */
const MAX_WAIT_SECONDS = 60;

export interface ExceededLimit {
  readonly subject: Pick<LimitSubject, 'kind' | 'name'>;
  readonly limit: LimitKind;
  readonly allowed: number;
  /** Used before this call, and needed by it. */
  readonly used: number;
  readonly needed: number;
}

/** Names the limit, its subject and the wait. Some clients parse the wait from this message. */
export class RateLimited extends AppError {
  constructor(
    exceeded: ExceededLimit,
    waitMs: Refusal['waitMs'],
    /** For the headers. */
    readonly statuses: LimitStatuses,
  ) {
    const seconds = Math.min(Math.max(1, Math.ceil((waitMs ?? Infinity) / 1000)), MAX_WAIT_SECONDS);
    const advice =
      waitMs === undefined
        ? 'This request alone is over the limit; make it smaller.'
        : `Please try again in ${seconds}s.`;
    super('rate_limit_exceeded', `Rate limit reached: ${ruleOf(exceeded)} ${advice}`, {
      retryAfterSeconds: seconds,
      ...(waitMs === undefined && { shouldRetry: false }),
    });
  }
}

function ruleOf({ subject, limit, allowed, used, needed }: ExceededLimit): string {
  const who = ownerOf(subject);
  switch (limit) {
    case 'requests':
      return `${who} is limited to ${times(allowed, 'request')} per minute.`;
    case 'tokens':
      return `${who} is limited to ${times(allowed, 'token')} per minute; ${used} are used and this call needs about ${needed}.`;
    case 'concurrency':
      return `${who} is limited to ${times(allowed, 'concurrent call')}.`;
    default:
      return limit satisfies never;
  }
}

function ownerOf({ kind, name }: ExceededLimit['subject']): string {
  switch (kind) {
    case 'key':
      return `the key “${name}”`;
    case 'group':
      return `the group “${name}” as a whole`;
    case 'account':
      return 'your account';
    case 'address':
      return 'your IP address';
    default:
      return kind satisfies never;
  }
}

const times = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`;

/** Remaining part of a per-minute limit. */
export interface LimitStatus {
  readonly limit: number;
  readonly remaining: number;
  /** Time until the limit is fully restored without further calls: a duration, and as Unix time in ms. */
  readonly resetMs: number;
  readonly resetsAt: number;
}

/** The tightest limits that apply to a call; absent where there is none. */
export interface LimitStatuses {
  readonly requests?: LimitStatus;
  readonly tokens?: LimitStatus;
}
