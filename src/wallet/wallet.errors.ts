import { AppError, formatUsd, MAX_AMOUNT, type Nanos } from '../platform/shared/index.js';

export class WalletNotFound extends AppError {
  constructor(accountId: string) {
    super('not_found', `The account ${accountId} has no wallet.`);
  }
}

/** The wallet cannot be closed while calls hold a part of it. */
export class WalletInUse extends AppError {
  constructor(calls: number) {
    const [running, ended] = calls === 1 ? ['One call is', 'the call has'] : [`${calls} calls are`, 'the calls have'];
    super(
      'conflict',
      `${running} still running on this account. Suspend the account, then delete it when ${ended} ended.`,
    );
  }
}

/** The account of the wallet was deleted. */
export class WalletClosed extends AppError {
  constructor() {
    super('conflict', 'The account was deleted; its wallet accepts no credit.');
  }
}

/** The debit exceeds what is neither held nor needed for a debt. */
export class DebitTooLarge extends AppError {
  constructor(debit: Nanos, free: Nanos, { held, owed }: { readonly held: Nanos; readonly owed: Nanos }) {
    const onHold = held > 0n ? ` ($${formatUsd(held)} more is on hold for running calls)` : '';
    const inDebt =
      owed > 0n ? ` The account owes $${formatUsd(owed)}, and incoming money is applied to that debt first.` : '';
    super(
      'invalid_request',
      `A debit of $${formatUsd(debit)} is not possible: only $${formatUsd(free)} is available${onHold}.${inDebt}`,
      { param: 'amount' },
    );
  }
}

export class InvalidAmount extends AppError {
  static zero(): InvalidAmount {
    return new InvalidAmount('Enter an amount other than 0.');
  }

  static negative(): InvalidAmount {
    return new InvalidAmount('Enter an amount of at least 0.');
  }

  static notPositive(): InvalidAmount {
    return new InvalidAmount('Enter an amount greater than 0.');
  }

  static balanceOutOfRange(): InvalidAmount {
    return new InvalidAmount(`A balance cannot exceed $${formatUsd(MAX_AMOUNT)}.`);
  }

  constructor(message: string) {
    super('invalid_request', message, { param: 'amount' });
  }
}
