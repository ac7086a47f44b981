import { Injectable } from '@nestjs/common';
import type { ThrottlerStorage } from '@nestjs/throttler';
import { DataSource } from 'typeorm';
import { hash } from 'node:crypto';
import { AppError, Clock } from '../../platform/shared/index.js';

type ThrottlerRecord = Awaited<ReturnType<ThrottlerStorage['increment']>>;

/** Each block is twice as long as the previous one, up to sixteen times the first. */
const MAX_DOUBLINGS = 4;
/** Max rows, since anyone can create them; those that expire first are deleted. */
const MAX_ROWS = 50_000;
/** Attempts of this process between two cleanups. */
const COUNTS_PER_CLEARING = 256;

/**
 * One statement, so that concurrent attempts are counted individually. $1 key, $2 now, $3 window, $4 limit, $5 block.
 * - While blocked, nothing changes: otherwise continued attempts would extend the block forever.
 * - After a block one attempt is allowed; another one within the window starts a longer block.
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

/** A successful attempt does not count. */
const GIVE_BACK = `UPDATE throttles SET hits = hits - 1 WHERE key = $1 AND hits > 0 AND blocked_until IS NULL`;

const CLEAR = `
  DELETE FROM throttles WHERE expires_at <= $1
     OR key IN (SELECT key FROM throttles ORDER BY expires_at DESC OFFSET ${MAX_ROWS})`;

/**
 * Attempt counters shared by all processes, as a storage of @nestjs/throttler. Its own storage is per process and
 * linear in the attempts of a window.
 */
@Injectable()
export class PostgresThrottlerStorage implements ThrottlerStorage {
  private counted = 0;

  constructor(
    private readonly dataSource: DataSource,
    private readonly clock: Clock,
  ) {}

  /** Times in ms; results in seconds, as the interface requires. */
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

/** A hash: fixed size, and no list of who tried. */
const rowOf = (throttlerName: string, key: string): Buffer => hash('sha256', `${throttlerName}\n${key}`, 'buffer');

const MINUTE_MS = 60_000;

/** Allowed attempts. Times in ms. */
interface Allowance {
  readonly limit: number;
  readonly windowMs: number;
  /** The first block; each further one is twice as long. */
  readonly blockMs: number;
}

/** Limits of attempts, each per email address (in all spellings), account or network. */
export const ALLOWANCES = {
  /** Wrong passwords per email address as entered, whether it has an account or not. */
  'password-of-account': { limit: 5, windowMs: 15 * MINUTE_MS, blockMs: MINUTE_MS },
  /** Wrong passwords per network, which many users may share. */
  'password-from-network': { limit: 30, windowMs: 15 * MINUTE_MS, blockMs: MINUTE_MS },
  /** Wrong passwords of a signed-in user; separate, so that others cannot block them. */
  'password-of-session': { limit: 5, windowMs: 15 * MINUTE_MS, blockMs: MINUTE_MS },
  /** Wrong second-factor codes after a correct password: three of a million codes are valid at any time. */
  'second-factor-of-account': { limit: 5, windowMs: 15 * MINUTE_MS, blockMs: MINUTE_MS },
  /** The same for a signed-in user. */
  'second-factor-of-session': { limit: 5, windowMs: 15 * MINUTE_MS, blockMs: MINUTE_MS },
  /** Sign-ins begun at a provider and not completed, per network. */
  'provider-from-network': { limit: 30, windowMs: 15 * MINUTE_MS, blockMs: MINUTE_MS },
  /** Invalid logout tokens, per network: checking one can fetch the provider's keys. */
  'logout-from-network': { limit: 30, windowMs: 15 * MINUTE_MS, blockMs: MINUTE_MS },
  /** Uses and registrations of passkeys begun and not completed, per network. */
  'passkey-from-network': { limit: 30, windowMs: 15 * MINUTE_MS, blockMs: MINUTE_MS },
  /** Emails to one address that anyone can request. */
  'mail-to-address': { limit: 5, windowMs: 60 * MINUTE_MS, blockMs: 15 * MINUTE_MS },
  /** Emails requested by one network. */
  'mail-from-network': { limit: 30, windowMs: 60 * MINUTE_MS, blockMs: 10 * MINUTE_MS },
  /** Wrong verification codes and links per network. */
  'code-from-network': { limit: 30, windowMs: 15 * MINUTE_MS, blockMs: MINUTE_MS },
  /** Invalid redemption codes per account and network: they cannot be guessed, but attempts cost. */
  'redemption-of-account': { limit: 10, windowMs: 15 * MINUTE_MS, blockMs: MINUTE_MS },
  'redemption-from-network': { limit: 60, windowMs: 15 * MINUTE_MS, blockMs: MINUTE_MS },
  /** Invitations by mail, per organization. */
  'invitation-of-organization': { limit: 100, windowMs: 60 * MINUTE_MS, blockMs: 10 * MINUTE_MS },
  /** Organizations created by a user: each is stored permanently. */
  'organization-of-account': { limit: 10, windowMs: 60 * MINUTE_MS, blockMs: 10 * MINUTE_MS },
  /** Keys created on pages: each is stored permanently. */
  'key-of-account': { limit: 60, windowMs: 60 * MINUTE_MS, blockMs: 10 * MINUTE_MS },
} as const satisfies Record<string, Allowance>;

type AttemptKind = keyof typeof ALLOWANCES;

/** Too many attempts; says when the next one is allowed. */
export class TooManyAttempts extends AppError {
  constructor(readonly retryAfterSeconds: number) {
    super('rate_limit_exceeded', `Too many attempts. Try again in ${durationOf(retryAfterSeconds)}.`, {
      retryAfterSeconds,
    });
  }
}

/** Limits attempts across all processes. */
@Injectable()
export class Throttle {
  constructor(private readonly storage: PostgresThrottlerStorage) {}

  /** Counts an attempt in advance, so that concurrency gains nothing. @throws TooManyAttempts */
  async spend(kind: AttemptKind, by: string): Promise<void> {
    const { limit, windowMs, blockMs } = ALLOWANCES[kind];
    const record = await this.storage.increment(by, windowMs, limit, blockMs, kind);
    if (record.isBlocked) throw new TooManyAttempts(record.timeToBlockExpire);
  }

  /** A successful attempt does not count. */
  giveBack(kind: AttemptKind, by: string): Promise<void> {
    return this.storage.giveBack(by, kind);
  }

  /** Resets the counter after a success. */
  forget(kind: AttemptKind, by: string): Promise<void> {
    return this.storage.forget(by, kind);
  }
}

/** Shows the error beside a form field. @param param name of the field */
export const asFieldError =
  (param: string) =>
  (error: unknown): never => {
    if (!(error instanceof TooManyAttempts)) throw error;
    const { kind, message, retryAfterSeconds } = error;
    throw new AppError(kind, message, { param, retryAfterSeconds });
  };

/** `40 seconds`, `1 minute`, `15 minutes`; rounded up. */
export function durationOf(seconds: number): string {
  const [amount, unit] = seconds < 60 ? [seconds, 'second'] : [Math.ceil(seconds / 60), 'minute'];
  return `${amount} ${unit}${amount === 1 ? '' : 's'}`;
}
