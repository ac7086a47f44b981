import { Injectable } from '@nestjs/common';
import { AppError } from '../../platform/shared/index.js';
import { PostgresThrottlerStorage } from './postgres-throttler.storage.js';

const MINUTE_MS = 60_000;

/** How often something may be tried. Times in ms. */
interface Allowance {
  readonly limit: number;
  readonly windowMs: number;
  /** The first block; each further one is twice as long. */
  readonly blockMs: number;
}

/** What is counted, and for whom: an address of mail in all its spellings, an account, a network. */
export const ALLOWANCES = {
  /** Wrong passwords of one account, or of an address that has none. */
  'password-of-account': { limit: 5, windowMs: 15 * MINUTE_MS, blockMs: MINUTE_MS },
  /** Wrong passwords from one network: many people may share it. */
  'password-from-network': { limit: 30, windowMs: 15 * MINUTE_MS, blockMs: MINUTE_MS },
  /** Wrong passwords of somebody who is signed in. Of their own, so that no stranger can keep them from it. */
  'password-of-session': { limit: 5, windowMs: 15 * MINUTE_MS, blockMs: MINUTE_MS },
  /** Wrong codes of a second factor, of whoever knows the password: of six digits, three are right at any moment. */
  'second-factor-of-account': { limit: 5, windowMs: 15 * MINUTE_MS, blockMs: MINUTE_MS },
  /** The same of somebody who is signed in. */
  'second-factor-of-session': { limit: 5, windowMs: 15 * MINUTE_MS, blockMs: MINUTE_MS },
  /** Mail to one address that anybody can ask for. */
  'mail-to-address': { limit: 5, windowMs: 60 * MINUTE_MS, blockMs: 15 * MINUTE_MS },
  /** The same, of all that one network asks for. */
  'mail-from-network': { limit: 30, windowMs: 60 * MINUTE_MS, blockMs: 10 * MINUTE_MS },
  /** Codes and links that are wrong, from one network. */
  'code-from-network': { limit: 30, windowMs: 15 * MINUTE_MS, blockMs: MINUTE_MS },
  /** Redemption codes that are worth nothing, of one account and from one network: none can be guessed, but tries cost. */
  'redemption-of-account': { limit: 10, windowMs: 15 * MINUTE_MS, blockMs: MINUTE_MS },
  'redemption-from-network': { limit: 60, windowMs: 15 * MINUTE_MS, blockMs: MINUTE_MS },
  /** Keys that somebody makes on the pages: each stays in the record for good. */
  'key-of-account': { limit: 60, windowMs: 60 * MINUTE_MS, blockMs: 10 * MINUTE_MS },
} as const satisfies Record<string, Allowance>;

export type Tried = keyof typeof ALLOWANCES;

/** Too many tries; says when the next one may be made. */
export class TooManyTries extends AppError {
  constructor(readonly retryAfterSeconds: number) {
    super('rate_limit_exceeded', `Too many attempts. Try again in ${durationOf(retryAfterSeconds)}.`, {
      retryAfterSeconds,
    });
  }
}

/** Counts tries in all processes together, and says no to those that are too many. */
@Injectable()
export class Throttle {
  constructor(private readonly storage: PostgresThrottlerStorage) {}

  /** Counts a try before it is made, so that tries at the same moment gain nothing. @throws TooManyTries */
  async spend(tried: Tried, by: string): Promise<void> {
    const { limit, windowMs, blockMs } = ALLOWANCES[tried];
    const record = await this.storage.increment(by, windowMs, limit, blockMs, tried);
    if (record.isBlocked) throw new TooManyTries(record.timeToBlockExpire);
  }

  /** A try that succeeded does not count. */
  giveBack(tried: Tried, by: string): Promise<void> {
    return this.storage.giveBack(by, tried);
  }

  /** Whoever succeeded begins anew. */
  forget(tried: Tried, by: string): Promise<void> {
    return this.storage.forget(by, tried);
  }
}

/** For forms: too many tries are told beside the field that they were made with. @param param its name */
export const besideField =
  (param: string) =>
  (error: unknown): never => {
    if (!(error instanceof TooManyTries)) throw error;
    const { kind, message, retryAfterSeconds } = error;
    throw new AppError(kind, message, { param, retryAfterSeconds });
  };

/** `40 seconds`, `1 minute`, `15 minutes`: never sooner than it is. */
export function durationOf(seconds: number): string {
  const [amount, unit] = seconds < 60 ? [seconds, 'second'] : [Math.ceil(seconds / 60), 'minute'];
  return `${amount} ${unit}${amount === 1 ? '' : 's'}`;
}
