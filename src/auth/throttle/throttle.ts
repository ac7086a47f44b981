import { Injectable } from '@nestjs/common';
import type { ThrottlerStorage } from '@nestjs/throttler';
import { DataSource } from 'typeorm';
import { hash } from 'node:crypto';
import { AppError, Clock } from '../../platform/shared/index.js';

type ThrottlerRecord = Awaited<ReturnType<ThrottlerStorage['increment']>>;

/** A block is twice as long as the one before it, up to sixteen times the first. */
const MAX_DOUBLINGS = 4;
/** Strangers choose what is counted: more than this is not kept, the soonest forgotten going first. */
const MAX_ROWS = 50_000;
/** So many counts of this process between two clearings. */
const COUNTS_PER_CLEARING = 256;

/**
 * One statement, so that tries at the same moment are counted one by one. $1 key, $2 now, $3 window, $4 limit, $5 block.
 * - Blocked: nothing changes, or whoever goes on trying would never be let in again.
 * - A block that is over lets one try through: the next one within the window begins a longer block.
 */
const INCREMENT = `
  WITH tried AS (
    INSERT INTO throttles AS t (key, hits, expires_at) VALUES ($1, 1, $2::timestamptz + $3 * interval '1 ms')
    ON CONFLICT (key) DO UPDATE SET
      hits = CASE WHEN t.blocked_until > $2 THEN t.hits
                  WHEN t.expires_at <= $2 THEN 1
                  WHEN t.blocked_until IS NOT NULL THEN $4
                  ELSE t.hits + 1 END,
      strikes = CASE WHEN t.blocked_until > $2 THEN t.strikes
                     WHEN t.expires_at <= $2 THEN 0
                     WHEN t.blocked_until IS NULL AND t.hits >= $4 THEN t.strikes + 1
                     ELSE t.strikes END,
      blocked_until = CASE WHEN t.blocked_until > $2 THEN t.blocked_until
                           WHEN t.expires_at <= $2 THEN NULL
                           WHEN t.blocked_until IS NULL AND t.hits >= $4
                             THEN $2 + $5 * power(2, least(t.strikes, ${MAX_DOUBLINGS})) * interval '1 ms'
                           ELSE NULL END,
      expires_at = CASE WHEN t.blocked_until > $2 THEN t.expires_at
                        WHEN t.expires_at <= $2 THEN $2 + $3 * interval '1 ms'
                        WHEN t.blocked_until IS NULL AND t.hits >= $4
                          THEN $2 + ($5 * power(2, least(t.strikes, ${MAX_DOUBLINGS})) + $3) * interval '1 ms'
                        ELSE t.expires_at END
    RETURNING *)
  SELECT hits, extract(epoch FROM expires_at - $2)::float8 AS "expiresIn",
         coalesce(extract(epoch FROM blocked_until - $2), 0)::float8 AS "blockedFor"
    FROM tried`;

/** A try that was none: it succeeded. */
const GIVE_BACK = `UPDATE throttles SET hits = hits - 1 WHERE key = $1 AND hits > 0 AND blocked_until IS NULL`;

const CLEAR = `
  DELETE FROM throttles WHERE expires_at <= $1
     OR key IN (SELECT key FROM throttles ORDER BY expires_at DESC OFFSET ${MAX_ROWS})`;

/**
 * Counts of tries that all processes share, behind the interface of @nestjs/throttler. The storage that comes with it
 * counts for one process alone, and looks at every try of the window for each new one.
 */
@Injectable()
export class PostgresThrottlerStorage implements ThrottlerStorage {
  private counted = 0;

  constructor(
    private readonly dataSource: DataSource,
    private readonly clock: Clock,
  ) {}

  /** Times in ms; in what it gives back, as the interface has it, in whole seconds. */
  async increment(
    key: string,
    ttl: number,
    limit: number,
    blockDuration: number,
    throttlerName: string,
  ): Promise<ThrottlerRecord> {
    const parameters = [rowOf(throttlerName, key), this.clock.date(), ttl, limit, blockDuration];
    const [row] = await this.dataSource.query<{ hits: number; expiresIn: number; blockedFor: number }[]>(
      INCREMENT,
      parameters,
    );
    if (row === undefined) throw new TypeError('Failed to count an attempt.');
    if (++this.counted % COUNTS_PER_CLEARING === 0) await this.clear();
    return {
      totalHits: row.hits,
      timeToExpire: Math.ceil(row.expiresIn),
      isBlocked: row.blockedFor > 0,
      timeToBlockExpire: Math.ceil(Math.max(0, row.blockedFor)),
    };
  }

  async giveBack(key: string, throttlerName: string): Promise<void> {
    await this.dataSource.query(GIVE_BACK, [rowOf(throttlerName, key)]);
  }

  async forget(key: string, throttlerName: string): Promise<void> {
    await this.dataSource.query('DELETE FROM throttles WHERE key = $1', [rowOf(throttlerName, key)]);
  }

  async clear(): Promise<void> {
    await this.dataSource.query(CLEAR, [this.clock.date()]);
  }
}

/** Of one size whatever strangers send, and no list of who tried. */
const rowOf = (throttlerName: string, key: string): Buffer => hash('sha256', `${throttlerName}\n${key}`, 'buffer');

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

type Tried = keyof typeof ALLOWANCES;

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
