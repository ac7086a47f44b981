import { AppError, type ErrorKind } from '../../../platform/shared/index.js';
import type { CooldownReason } from '../health/cooldown.js';
import type { UnavailableChannel } from './channel-status.js';

/** Clients are told to wait no longer than this. */
const LONGEST_WAIT_SECONDS = 60;
/** Where nobody knows when: a full channel has room again in a moment, and a call that tries tells soon. */
const MOMENT_SECONDS = 1;
const UNKNOWN_WAIT_SECONDS = 10;

/** Nobody can be asked, or nobody else. */
export class NoChannel extends AppError {
  constructor(
    kind: ErrorKind,
    message: string,
    retryAfterSeconds: number | undefined,
    /** There is nobody for whom to wait either: all have been asked, or there is none at all. */
    readonly isExhausted: boolean,
  ) {
    super(kind, message, retryAfterSeconds === undefined ? {} : { retryAfterSeconds });
  }

  static for(model: string, retryAfterSeconds = UNKNOWN_WAIT_SECONDS, isExhausted = true): NoChannel {
    const message = `No channel can serve the model "${model}" right now. Please try again in ${retryAfterSeconds}s. If this persists, contact an administrator.`;
    return new NoChannel('server_is_overloaded', message, retryAfterSeconds, isExhausted);
  }
}

/** Why channels that serve a model cannot be called now, gathered while one is looked for. */
export class Shortage {
  private readonly reasons = new Set<CooldownReason | 'full'>();
  private waitMs = Infinity;

  constructor(private readonly nowMs: number) {}

  add({ isFull, rests }: Pick<UnavailableChannel, 'isFull' | 'rests'>): void {
    if (isFull) this.note('full', MOMENT_SECONDS * 1000);
    for (const { reason, untilMs } of rests) this.note(reason, Math.max(untilMs - this.nowMs, MOMENT_SECONDS * 1000));
  }

  /** What the client is told when there is no other. */
  errorFor(model: string): NoChannel {
    if (this.reasons.size === 0) return NoChannel.for(model);
    const seconds = Math.min(Math.ceil(this.waitMs / 1000), LONGEST_WAIT_SECONDS);
    if (this.isOnly('rate_limit')) {
      const message = `All channels of the model "${model}" are at their rate limits. Please try again in ${seconds}s.`;
      return new NoChannel('rate_limit_exceeded', message, seconds, false);
    }
    if (this.isOnly('refused')) {
      const message = "The upstream rejected the relay's credential. Contact an administrator.";
      return new NoChannel('upstream_auth', message, undefined, false);
    }
    return NoChannel.for(model, seconds, false);
  }

  private note(reason: CooldownReason | 'full', waitMs: number): void {
    this.reasons.add(reason);
    this.waitMs = Math.min(this.waitMs, waitMs);
  }

  private isOnly(reason: CooldownReason): boolean {
    return this.reasons.size === 1 && this.reasons.has(reason);
  }
}
