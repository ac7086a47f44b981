import { Column, Entity, PrimaryColumn } from 'typeorm';
import { nanosColumn } from '../platform/database/index.js';
import { AppError, formatUsd, MAX_AMOUNT, type Nanos } from '../platform/shared/index.js';

/** A code that is worth money once, unless it is voided before. It is redeemed when it has an entry. */
@Entity('redemption_codes')
export class RedemptionCodeEntity {
  @PrimaryColumn('text')
  readonly id: string;

  /** SHA-256 of the code. Not selected unless asked for. */
  @Column('bytea', { name: 'code_hash', select: false })
  readonly codeHash: Buffer;

  @Column(nanosColumn)
  readonly amount: Nanos;

  /** The operator's words for what it was made for. */
  @Column('text', { default: '' })
  readonly note: string;

  @Column('timestamptz', { name: 'expires_at', nullable: true })
  readonly expiresAt: Date | null;

  @Column('timestamptz', { name: 'created_at', default: () => 'now()' })
  readonly createdAt: Date;

  /** Of all that were made together; null: made before this was noted. */
  @Column('text', { name: 'batch_id', nullable: true })
  readonly batchId: string | null;

  /** Worth nothing since; null: it is not voided. */
  @Column('timestamptz', { name: 'voided_at', nullable: true })
  readonly voidedAt: Date | null;

  @Column('timestamptz', { name: 'redeemed_at', nullable: true })
  readonly redeemedAt: Date | null;

  @Column('text', { name: 'redeemed_by', nullable: true })
  readonly redeemedBy: string | null;

  /** What put its worth into a wallet. */
  @Column('text', { name: 'entry_id', nullable: true })
  readonly entryId: string | null;
}

/** A code as the operator sees it: never the code itself. */
export interface ListedCode {
  readonly id: string;
  /** Of all that were made together; null: made before this was noted. */
  readonly batchId: string | null;
  readonly amount: Nanos;
  readonly note: string;
  readonly createdAt: Date;
  readonly expiresAt: Date | null;
  readonly voidedAt: Date | null;
  readonly redeemedAt: Date | null;
  /** Email address of the account that redeemed it. */
  readonly redeemedBy: string | null;
  readonly redeemedById: string | null;
}

export const CODE_STATES = ['open', 'redeemed', 'expired', 'voided'] as const;
/** `voided`: the operator has made it worth nothing before anybody redeemed it. */
export type CodeState = (typeof CODE_STATES)[number];

/** Which codes are looked for. */
export interface CodeFilter {
  readonly state?: CodeState | undefined;
  readonly batch?: string | undefined;
  /** Part of the id, of the note, or of the address of whoever redeemed it. */
  readonly text?: string | undefined;
}

/** A place in the list, newest code first. */
export interface CodePosition {
  readonly before?: string | undefined;
  readonly after?: string | undefined;
}

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
