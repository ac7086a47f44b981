import { AppError, formatUsd } from '../../platform/shared/index.js';
import type { ExtensionOutcome, FundsLeft, Shortage } from './admission.js';

const BUDGET = { day: 'daily', week: 'weekly', month: 'monthly' } as const;

/** The wallet, the key or one of its budgets cannot pay for the call. Says which, what is left and what the call needs. */
export class InsufficientQuota extends AppError {
  /** @param keyName people have several keys, and look for the one to raise by its name */
  constructor(source: Shortage, left: FundsLeft, minimum: bigint, keyName: string) {
    // A refusal that only running calls cause is worth another try: their holds come back.
    const passing = left.free + left.onHold >= minimum;
    super(
      'insufficient_quota',
      `insufficient quota: ${ownerText(source, left, `the key “${keyName}”`)} has ${leftText(source, left)} and this call needs at least $${formatUsd(minimum)}. ${adviceText(source, passing)}`,
      passing ? { shouldRetry: true, retryAfterSeconds: 1 } : { shouldRetry: false },
    );
  }
}

/** The account owes money, after a payment was taken back; until that is paid none of its calls is admitted. */
export class AccountOwes extends AppError {
  constructor({ free }: FundsLeft) {
    super(
      'insufficient_quota',
      `insufficient quota: your account owes $${formatUsd(-free)} because a payment was reversed. Top up the wallet; the debt is paid first.`,
      { shouldRetry: false },
    );
  }
}

function ownerText(source: Shortage, { period }: FundsLeft, key: string): string {
  if (source === 'wallet') return 'your wallet';
  return source === 'key' || period === undefined ? `the quota of ${key}` : `the ${BUDGET[period]} budget of ${key}`;
}

function leftText(source: Shortage, { free, onHold, holds }: FundsLeft): string {
  const left = `$${formatUsd(free < 0n ? 0n : free)} left`;
  if (onHold === 0n) return left;
  // Neither a key's row nor a budget's counts its calls.
  const calls = source === 'wallet' ? `${holds} running ${holds === 1 ? 'call' : 'calls'}` : 'running calls';
  return `${left} ($${formatUsd(onHold)} on hold for ${calls})`;
}

function adviceText(source: Shortage, passing: boolean): string {
  if (passing) return 'Retry when running calls have ended.';
  if (source === 'wallet') return 'Top up the wallet or lower the output limit.';
  return source === 'key'
    ? 'Raise the quota of this key or lower the output limit.'
    : 'Wait for the next budget period, raise the budget of this key, or lower the output limit.';
}

/** A stream has said what its money could pay for: the rest of it is not bought. */
export class OutOfCredit extends AppError {
  constructor(outcome: Exclude<ExtensionOutcome, 'extended' | 'closed'>, left: FundsLeft) {
    super('insufficient_quota', `insufficient quota: ${whatRanOut(outcome, left)} The response ends here.`, {
      shouldRetry: false,
    });
  }
}

function whatRanOut(outcome: Exclude<ExtensionOutcome, 'extended' | 'closed'>, left: FundsLeft): string {
  switch (outcome) {
    case 'key_state':
      return 'this API key is no longer valid.';
    case 'account_state':
      return 'this account is no longer active.';
    case 'owed':
      return `your account owes $${formatUsd(-left.free)}.`;
    default:
      return `${ownerText(outcome, left, 'this key')} has ${leftText(outcome, left)}, which does not cover the rest of this response.`;
  }
}

/** The client has named its call, and one of that name is running already, elsewhere. @see NamedCalls */
export class RunsElsewhere extends AppError {
  /** @param callId of the other one, where that is still known */
  constructor(callId: string | undefined) {
    const which = callId === undefined ? '' : `, ${callId},`;
    super(
      'conflict',
      `A request with this Idempotency-Key${which} is still running in another process. Wait for that request or use another key.`,
      { shouldRetry: true, retryAfterSeconds: 1 },
    );
  }
}

/** The database did not take the call: nothing was sent and nothing is charged. */
export class AdmissionUnavailable extends AppError {
  constructor(cause: unknown) {
    super(
      'unavailable',
      'The relay cannot reach its database. Nothing was sent upstream; retry shortly.',
      {
        retryAfterSeconds: 2,
      },
      { cause },
    );
  }
}

/** So many calls wait to be recorded that no more are begun: nothing was held and nothing was sent. */
export class TooManyUnsettled extends AppError {
  constructor() {
    super(
      'unavailable',
      'The relay cannot record calls until its database is back. Nothing was sent upstream; retry shortly.',
      { retryAfterSeconds: 2 },
    );
  }
}

/** The key or the catalog changed again while the call was being admitted: nothing was held and nothing was sent. */
export class AdmissionOutdated extends AppError {
  constructor() {
    super('unavailable', 'Prices or keys are being changed. Nothing was sent upstream; retry.', {
      retryAfterSeconds: 1,
    });
  }
}

/** The answer is there, but it could not be recorded in time, so its end is not sent. */
export class SettlementUnavailable extends AppError {
  constructor(cause: unknown) {
    super(
      'unavailable',
      'The response is complete but could not be recorded, so its end was not sent. It may be charged later; check the usage logs before you retry.',
      { shouldRetry: false },
      { cause },
    );
  }
}

/** Nobody is told this: it stands in the log of calls whose process died under them. */
export class ProcessDied extends AppError {
  constructor() {
    super('internal', 'The process that served this call exited before the call ended.');
  }
}

/** Nor this: it stands in the log of calls whose settlement the database refused, until somebody settles them. */
export class NotSettled extends AppError {
  constructor() {
    super('internal', 'The outcome of this call could not be recorded. It is not charged until it is.');
  }
}
