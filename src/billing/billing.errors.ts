import { AppError, formatUsd } from '../shared/index.js';
import type { AdmissionResult } from './billing.repository.js';
import type { HoldRequest } from './hold.js';

const OWNER = { wallet: 'your wallet', key: "this key's quota" } as const;

/** The wallet or the key cannot pay for the call. Says which of the two, what is left and what the call needs. */
export class InsufficientQuota extends AppError {
  constructor(source: 'wallet' | 'key', result: AdmissionResult, { minimum }: HoldRequest) {
    // A refusal that only running calls cause is worth another try: their holds come back.
    const passing = result.free + result.onHold >= minimum;
    super(
      'insufficient_quota',
      `insufficient quota: ${OWNER[source]} has ${leftText(source, result)} and this call needs at least $${formatUsd(minimum)}. ${adviceText(source, passing)}`,
      passing ? { shouldRetry: true, retryAfterSeconds: 1 } : { shouldRetry: false },
    );
  }
}

function leftText(source: 'wallet' | 'key', { free, onHold, holds }: AdmissionResult): string {
  const left = `$${formatUsd(free < 0n ? 0n : free)} left`;
  if (onHold === 0n) return left;
  // A key's row does not count its calls.
  const calls = source === 'wallet' ? `${holds} running ${holds === 1 ? 'call' : 'calls'}` : 'running calls';
  return `${left} ($${formatUsd(onHold)} on hold for ${calls})`;
}

function adviceText(source: 'wallet' | 'key', passing: boolean): string {
  if (passing) return 'Try again when running calls have ended.';
  return source === 'wallet'
    ? 'Top up the wallet or ask for less output.'
    : 'Ask for a higher quota of this key or for less output.';
}

/** The database did not take the call: nothing was sent and nothing is charged. */
export class AdmissionUnavailable extends AppError {
  constructor(cause: unknown) {
    super(
      'unavailable',
      'The relay cannot reach its database; nothing was sent upstream. Try again shortly.',
      {
        retryAfterSeconds: 2,
      },
      { cause },
    );
  }
}

/** The key or the catalog changed again while the call was being admitted: nothing was held and nothing was sent. */
export class AdmissionOutdated extends AppError {
  constructor() {
    super('unavailable', 'Prices or keys are being changed at this moment; nothing was sent upstream. Try again.', {
      retryAfterSeconds: 1,
    });
  }
}

/** The answer is there, but it could not be recorded in time, so its end is not sent. */
export class SettlementUnavailable extends AppError {
  constructor(cause: unknown) {
    super(
      'unavailable',
      'The answer is complete but could not be recorded, so its end was not sent. It may be charged later: look into the usage log before you repeat it.',
      { shouldRetry: false },
      { cause },
    );
  }
}
