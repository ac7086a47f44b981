import { durationOf } from '../auth/index.js';
import { AppError, formatUsd, MAX_AMOUNT, type Nanos } from '../platform/shared/index.js';
import type { BudgetName } from './key-budgets.js';

/** By then a full line has been served. */
const RETRY_AFTER_SECONDS = 10;

/** No key, or none that we issued, which is the fault when no other is given. The message starts `Invalid token`. */
export class InvalidToken extends AppError {
  constructor(fault = 'this key is not known here. Check that it is complete and belongs to this service.') {
    super('invalid_token', `Invalid token: ${fault}`);
  }
}

/** Too many strangers wait already for what this one would be told: that we issued no such key. */
export class TooManyStrangers extends AppError {
  constructor() {
    super(
      'rate_limit_exceeded',
      'Too many requests with keys that are not known here come from your network. Check your key and try again later.',
      { retryAfterSeconds: RETRY_AFTER_SECONDS },
    );
  }
}

export class KeyNotFound extends AppError {
  constructor(id: string) {
    super('not_found', `There is no key ${id}.`);
  }
}

export class KeyIsDeleted extends AppError {
  constructor(id: string) {
    super('invalid_request', `The key ${id} is deleted; a deleted key cannot be changed. Create a new one.`);
  }
}

/** Somebody else, or the same person elsewhere, has changed it since its settings were read. */
export class KeyChangedMeanwhile extends AppError {
  constructor(name: string) {
    super('conflict', `The key “${name}” was changed meanwhile. Look at what it is now, then save again.`);
  }
}

export class SecretNotImportable extends AppError {
  constructor() {
    super(
      'invalid_request',
      'This secret cannot be taken over: it must start with sk- and have 32 to 512 printable ASCII characters without blanks.',
    );
  }
}

/** The message says no more than that: whose key it is is not for whoever holds the secret to learn. */
export class SecretAlreadyKnown extends AppError {
  constructor() {
    super(
      'invalid_request',
      'This secret is already known here, or was before its key was deleted. Import another one.',
    );
  }
}

export class InvalidKeyName extends AppError {
  constructor() {
    super(
      'invalid_request',
      'The name of a key must have 1 to 100 characters and no line breaks or control characters.',
      {
        param: 'name',
      },
    );
  }
}

export class QuotaNotPossible extends AppError {
  static unlimited(id: string): QuotaNotPossible {
    return new QuotaNotPossible(
      `The key ${id} has no quota: it is limited by the wallet alone, so nothing can be added.`,
    );
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
    return new QuotaNotPossible(`A quota must lie between $0 and $${formatUsd(MAX_AMOUNT)}.`);
  }

  constructor(message: string) {
    super('invalid_request', message, { param: 'quota' });
  }
}

export class BudgetNotPossible extends AppError {
  static belowUse(name: BudgetName, limit: Nanos, used: Nanos, held: Nanos): BudgetNotPossible {
    return new BudgetNotPossible(
      name,
      `A ${name} budget of $${formatUsd(limit)} is not possible: ` +
        `$${formatUsd(used)} is used in this period and $${formatUsd(held)} is on hold for running calls.`,
    );
  }

  static outOfRange(name: BudgetName): BudgetNotPossible {
    return new BudgetNotPossible(name, `A ${name} budget must lie between $0 and $${formatUsd(MAX_AMOUNT)}.`);
  }

  constructor(name: BudgetName, message: string) {
    super('invalid_request', message, { param: name });
  }
}

export class NetworksNotPossible extends AppError {
  static misread(text: string): NetworksNotPossible {
    return new NetworksNotPossible(
      `“${text}” is no network. Write addresses and ranges such as 203.0.113.7, 203.0.113.0/24 or 2001:db8::/32.`,
    );
  }

  static tooMany(most: number): NetworksNotPossible {
    return new NetworksNotPossible(`A key has at most ${most} networks. Put some of them into one range.`);
  }

  constructor(message: string) {
    super('invalid_request', message, { param: 'networks' });
  }
}

/** Of a group that is switched off, or not for this account. */
export class GroupNotOffered extends AppError {
  constructor(group: string) {
    super('invalid_request', `Choose another group: “${group}” is not available.`, { param: 'group' });
  }
}

export class ModelNotOffered extends AppError {
  constructor(model: string, group: string) {
    super('invalid_request', `Untick ${model}: the group “${group}” does not answer for it.`, { param: 'models' });
  }
}

export class TooManyKeys extends AppError {
  constructor(most: number) {
    super(
      'invalid_request',
      `You have ${most.toLocaleString('en-US')} keys, and there can be no more. Delete one that is not used, then create this one.`,
      { param: 'name' },
    );
  }
}

/** The owner makes keys faster than anybody needs them. */
export class KeysMadeTooFast extends AppError {
  constructor(retryAfterSeconds: number) {
    super(
      'rate_limit_exceeded',
      `You have created many keys within an hour. Create the next one in ${durationOf(retryAfterSeconds)}.`,
      { param: 'name', retryAfterSeconds },
    );
  }
}
