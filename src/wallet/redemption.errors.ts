import { AppError, formatUsd, MAX_AMOUNT } from '../platform/shared/index.js';

/** A code that is worth nothing to whoever typed it; the message says why. */
export class CodeNotRedeemable extends AppError {
  static unknown(): CodeNotRedeemable {
    return new CodeNotRedeemable('Unknown code. Check that it is complete and was issued by this service.');
  }

  static expired(at: Date): CodeNotRedeemable {
    return new CodeNotRedeemable(`This code expired at ${at.toISOString()}.`);
  }

  static voided(): CodeNotRedeemable {
    return new CodeNotRedeemable('This code was withdrawn. Contact the person who gave it to you.');
  }

  static redeemedByYou(at: Date): CodeNotRedeemable {
    return new CodeNotRedeemable(`This code was already redeemed, for this account, at ${at.toISOString()}.`);
  }

  /**
   * Strangers are told that much too, and not who or when. Whoever types all of a code holds it, so nothing is given
   * away to people who guess; and whoever bought a code that was sold twice must not look for a mistype.
   */
  static redeemedByAnother(): CodeNotRedeemable {
    return new CodeNotRedeemable(
      'This code was already redeemed by another account. Contact the person who gave it to you.',
    );
  }

  constructor(message: string) {
    super('invalid_request', message, { param: 'code' });
  }
}

/** Codes that cannot be made. */
export class CodesNotPossible extends AppError {
  static amount(): CodesNotPossible {
    return new CodesNotPossible(`A code must be worth more than $0 and at most $${formatUsd(MAX_AMOUNT)}.`, 'amount');
  }

  static count(most: number): CodesNotPossible {
    return new CodesNotPossible(`The number of codes must be from 1 to ${most}.`, 'count');
  }

  static note(): CodesNotPossible {
    return new CodesNotPossible('A note has at most 200 characters and no line breaks.', 'note');
  }

  static expired(): CodesNotPossible {
    return new CodesNotPossible('The expiry of the codes must be in the future.', 'expires');
  }

  constructor(message: string, param: string) {
    super('invalid_request', message, { param });
  }
}
