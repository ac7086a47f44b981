import { durationOf } from '../auth/index.js';
import { AppError, formatUsd, MAX_AMOUNT, type Nanos } from '../platform/shared/index.js';
import type { MemberBudgetName } from './budgets.js';

/** By then a full queue has been served. */
const RETRY_AFTER_SECONDS = 10;

/** No key, or an unknown one (the default problem). The message starts with `Invalid token`. */
export class InvalidToken extends AppError {
  constructor(reason = 'unknown API key. Check that it is complete and belongs to this service.') {
    super('invalid_token', `Invalid token: ${reason}`);
  }
}

/** Retrying helps once the database responds. */
export class KeyNotChecked extends AppError {
  constructor(cause: unknown) {
    super(
      'unavailable',
      'The API key could not be checked because the database is not responding. Retry shortly.',
      { retryAfterSeconds: 1 },
      { cause },
    );
  }
}

/** Too many requests with invalid keys are already queued. */
export class TooManyInvalidKeys extends AppError {
  constructor() {
    super(
      'rate_limit_exceeded',
      'Too many requests with invalid API keys from your network. Check your key and retry later.',
      { retryAfterSeconds: RETRY_AFTER_SECONDS },
    );
  }
}

export class KeyNotFound extends AppError {
  constructor(id: string) {
    super('not_found', `API key ${id} not found.`);
  }
}

export class KeyIsDeleted extends AppError {
  constructor(id: string) {
    super('invalid_request', `The key ${id} is deleted and cannot be changed. Create a new one.`);
  }
}

/** The key was changed since its settings were read. */
export class KeyChangedMeanwhile extends AppError {
  constructor(name: string) {
    super('conflict', `The key “${name}” was changed while you edited it. Review the current values and save again.`);
  }
}

/** Of several keys, one cannot be changed; so none was. */
export class KeysNotChanged extends AppError {
  constructor(name: string, { kind, message, details }: AppError) {
    super(kind, `“${name}”: ${message}`, details);
  }
}

export class SecretNotImportable extends AppError {
  constructor() {
    super(
      'invalid_request',
      'This secret cannot be imported. It must start with sk- and have 32 to 512 printable ASCII characters without spaces.',
    );
  }
}

/** Says no more: the owner of the key must not be revealed to the holder of the secret. */
export class SecretAlreadyKnown extends AppError {
  constructor() {
    super('invalid_request', 'This secret is already in use, or was used by a deleted key. Import another one.');
  }
}

export class InvalidKeyName extends AppError {
  constructor() {
    super('invalid_request', 'Enter a key name of 1 to 100 characters without line breaks or control characters.', {
      param: 'name',
    });
  }
}

export class QuotaNotPossible extends AppError {
  static unlimited(id: string): QuotaNotPossible {
    return new QuotaNotPossible(`The key ${id} has no quota: it is limited only by the balance. Set a quota first.`);
  }

  static belowUse(quota: Nanos, used: Nanos, held: Nanos): QuotaNotPossible {
    return new QuotaNotPossible(
      `A quota of $${formatUsd(quota)} is not possible: ` +
        `$${formatUsd(used)} is used and $${formatUsd(held)} is on hold for running calls.`,
    );
  }

  static changedBelowUse(quota: Nanos, amount: Nanos, used: Nanos, held: Nanos): QuotaNotPossible {
    return new QuotaNotPossible(
      `A quota of $${formatUsd(quota)} cannot be changed by $${formatUsd(amount)}: ` +
        `$${formatUsd(used)} is used and $${formatUsd(held)} is on hold for running calls.`,
    );
  }

  static outOfRange(): QuotaNotPossible {
    return new QuotaNotPossible(`Enter a quota from $0 to $${formatUsd(MAX_AMOUNT)}.`);
  }

  constructor(message: string) {
    super('invalid_request', message, { param: 'quota' });
  }
}

export class BudgetNotPossible extends AppError {
  static belowUse(name: MemberBudgetName, limit: Nanos, used: Nanos, held: Nanos): BudgetNotPossible {
    const where = name === 'lifetime' ? '' : ' in this period';
    return new BudgetNotPossible(
      name,
      `A ${titleOf(name)} of $${formatUsd(limit)} is not possible: ` +
        `$${formatUsd(used)} is used${where} and $${formatUsd(held)} is on hold for running calls.`,
    );
  }

  static outOfRange(name: MemberBudgetName): BudgetNotPossible {
    return new BudgetNotPossible(name, `A ${titleOf(name)} must be between $0 and $${formatUsd(MAX_AMOUNT)}.`);
  }

  constructor(name: MemberBudgetName, message: string) {
    super('invalid_request', message, { param: name });
  }
}

const titleOf = (name: MemberBudgetName): string => (name === 'lifetime' ? 'total budget' : `${name} budget`);

export class NetworksNotPossible extends AppError {
  static misread(text: string): NetworksNotPossible {
    return new NetworksNotPossible(
      `“${text}” is not a network. Enter addresses and ranges such as 203.0.113.7, 203.0.113.0/24 or 2001:db8::/32.`,
    );
  }

  static tooMany(most: number): NetworksNotPossible {
    return new NetworksNotPossible(`Enter at most ${most} networks. Combine some of them into ranges.`);
  }

  constructor(message: string) {
    super('invalid_request', message, { param: 'networks' });
  }
}

/** The group is disabled or not available to this account. */
export class GroupNotOffered extends AppError {
  constructor(group: string) {
    super('invalid_request', `Choose another group: “${group}” is not available.`, { param: 'group' });
  }
}

export class ModelNotOffered extends AppError {
  constructor(model: string, group: string) {
    super('invalid_request', `Deselect ${model}: it is not available in the group “${group}”.`, { param: 'models' });
  }
}

/** Of several keys, one allows a model that its new group does not have. */
export class ModelPreventsMove extends AppError {
  constructor(name: string, model: string, group: string) {
    super(
      'invalid_request',
      `“${name}” allows ${model}, which is not available in the group “${group}”. Change its models first.`,
      { param: 'group' },
    );
  }
}

export class TooManyKeys extends AppError {
  constructor(most: number) {
    super(
      'invalid_request',
      `You have reached the maximum of ${most.toLocaleString('en-US')} API keys. Delete an unused key first.`,
      { param: 'name' },
    );
  }
}

/** Keys are created faster than the limit allows. */
export class KeysMadeTooFast extends AppError {
  constructor(retryAfterSeconds: number) {
    super(
      'rate_limit_exceeded',
      `You created too many API keys within an hour. Try again in ${durationOf(retryAfterSeconds)}.`,
      { param: 'name', retryAfterSeconds },
    );
  }
}
