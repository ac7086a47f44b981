import type { Caller } from '../../keys/index.js';
import { AppError, formatUsd } from '../../platform/shared/index.js';
import type { AdmissionResult, ExtensionOutcome, FundsLeft, ShortFunds } from './admission.js';

const BUDGET = { day: 'daily budget', week: 'weekly budget', month: 'monthly budget', lifetime: 'budget' } as const;
const PERIOD_TEXT = { day: 'every day', week: 'every Monday', month: 'on the first day of each month' } as const;

const RETRY = 'Retry when running calls have ended.';
const ASK_TO_TOP_UP = 'Ask an administrator of the organization to top it up.';

/** Who reads the error. Members of an organization may not see its balance. */
type KeyHolder = Pick<Caller, 'keyName' | 'memberId'>;

/** The wallet, the key or a budget cannot pay for the call. Says which, what is left and what is needed. */
export class InsufficientQuota extends AppError {
  /** @param caller with the display name of the key, since users have several */
  constructor(source: ShortFunds, left: FundsLeft, minimum: bigint, { keyName, memberId }: KeyHolder) {
    // If only running calls are in the way, a retry helps: their holds are released.
    const passing = left.free + left.onHold >= minimum;
    super(
      'insufficient_quota',
      source === 'wallet' && memberId !== null
        ? `insufficient quota: the wallet of the organization does not have the $${formatUsd(minimum)} that this call needs. ${passing ? RETRY : ASK_TO_TOP_UP}`
        : `insufficient quota: ${ownerText(source, left, `the key “${keyName}”`)} has ${leftText(source, left)} and this call needs at least $${formatUsd(minimum)}. ${adviceText(source, passing, left.period)}`,
      passing ? { shouldRetry: true, retryAfterSeconds: 1 } : { shouldRetry: false },
    );
  }
}

/** The account is in debt after a reversed payment; no calls are admitted until it is paid. */
export class AccountOwes extends AppError {
  constructor({ free }: FundsLeft, { memberId }: KeyHolder) {
    super(
      'insufficient_quota',
      memberId === null
        ? `insufficient quota: your account owes $${formatUsd(-free)} because a payment was reversed. Top up the wallet; the debt is paid first.`
        : 'insufficient quota: a payment of the organization was reversed. Ask one of its administrators.',
      { shouldRetry: false },
    );
  }
}

/**
 * The error for a call without enough money; undefined if it is admitted, or if key or catalog must be reloaded.
 * @param minimum required nanos
 */
export function refusalOf(result: AdmissionResult, minimum: bigint, caller: KeyHolder): AppError | undefined {
  switch (result.outcome) {
    case 'wallet':
    case 'key':
    case 'budget':
    case 'member':
    case 'team':
      return new InsufficientQuota(result.outcome, result, minimum, caller);
    case 'owed':
      return new AccountOwes(result, caller);
    case 'admitted':
    case 'stale':
    case 'key_state':
    case 'account_state':
      return undefined;
    default:
      return result.outcome satisfies never;
  }
}

function ownerText(source: ShortFunds, { period }: FundsLeft, key: string): string {
  if (source === 'wallet') return 'your wallet';
  if (source === 'key' || period === undefined) return `the quota of ${key}`;
  if (source === 'member') return `your ${BUDGET[period]} in this organization`;
  return source === 'team' ? `the ${BUDGET[period]} of your team` : `the ${BUDGET[period]} of ${key}`;
}

function leftText(source: ShortFunds, { free, onHold, holds }: FundsLeft): string {
  const left = `$${formatUsd(free < 0n ? 0n : free)} left`;
  if (onHold === 0n) return left;
  // Rows of keys and budgets have no count of running calls.
  const calls = source === 'wallet' ? `${holds} running ${holds === 1 ? 'call' : 'calls'}` : 'running calls';
  return `${left} ($${formatUsd(onHold)} more is on hold for ${calls})`;
}

function adviceText(source: ShortFunds, passing: boolean, period: FundsLeft['period']): string {
  if (passing) return RETRY;
  if (source === 'wallet') return 'Top up the wallet or lower the output limit.';
  if (source === 'key') return 'Raise the quota of this key or lower the output limit.';
  const reset = period === undefined || period === 'lifetime' ? '' : `It resets at 00:00 UTC ${PERIOD_TEXT[period]}. `;
  return source === 'budget'
    ? `${reset}Raise the budget of this key or lower the output limit.`
    : `${reset}Ask an administrator of the organization to raise it, or lower the output limit.`;
}

/** A stream has reached what its money can pay for. */
export class OutOfCredit extends AppError {
  /** @param isOfMember the key is that of a member of an organization */
  constructor(outcome: Exclude<ExtensionOutcome, 'extended' | 'closed'>, left: FundsLeft, isOfMember: boolean) {
    const text = isOfMember ? exhaustedForMember(outcome, left) : exhaustedText(outcome, left);
    super('insufficient_quota', `insufficient quota: ${text} The response ends here.`, {
      shouldRetry: false,
    });
  }
}

function exhaustedForMember(outcome: Exclude<ExtensionOutcome, 'extended' | 'closed'>, left: FundsLeft): string {
  if (outcome === 'wallet') return 'the wallet of the organization does not cover the rest of this response.';
  return outcome === 'owed' ? 'a payment of the organization was reversed.' : exhaustedText(outcome, left);
}

function exhaustedText(outcome: Exclude<ExtensionOutcome, 'extended' | 'closed'>, left: FundsLeft): string {
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

/** A call with this idempotency key runs in another process. @see IdempotencyKeys */
export class IdempotencyKeyInUse extends AppError {
  /** @param callId of the other call, if still known */
  constructor(callId: string | undefined) {
    const which = callId === undefined ? '' : `, ${callId},`;
    super(
      'conflict',
      `A request with this Idempotency-Key${which} is still running. Wait for that request or use another key.`,
      { shouldRetry: true, retryAfterSeconds: 1 },
    );
  }
}

/** The database did not admit the call: nothing was sent or charged. */
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

/** Too many calls wait for settlement: nothing was held or sent. */
export class TooManyUnsettled extends AppError {
  constructor() {
    super(
      'unavailable',
      'The relay cannot record calls until its database is back. Nothing was sent upstream; retry shortly.',
      { retryAfterSeconds: 2 },
    );
  }
}

/** Key or catalog changed again during admission: nothing was held or sent. */
export class AdmissionOutdated extends AppError {
  constructor() {
    super('unavailable', 'Prices or keys are being changed. Nothing was sent upstream; retry.', {
      retryAfterSeconds: 1,
    });
  }
}

/** The response is complete but could not be recorded in time, so its end is not sent. */
export class SettlementUnavailable extends AppError {
  constructor(cause: unknown) {
    super(
      'unavailable',
      'This call could not be recorded, so its response was cut before the end. You may still be charged; check the usage logs before you retry.',
      { shouldRetry: false },
      { cause },
    );
  }
}

/** Only recorded: the call's process died. */
export class ProcessDied extends AppError {
  constructor() {
    super('internal', 'The process that served this call exited before the call ended.');
  }
}

/** Only recorded: the database rejected the call's settlement. */
export class NotSettled extends AppError {
  constructor() {
    super(
      'internal',
      'The outcome of this call could not be recorded. It is not charged until an administrator resolves it.',
    );
  }
}
