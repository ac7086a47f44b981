import { Column, Entity, PrimaryColumn } from 'typeorm';
import { nanosColumn } from '../platform/database/index.js';
import { dateTime, zoneName } from '../platform/format/index.js';
import { AppError, formatUsd, MAX_AMOUNT, type Nanos } from '../platform/shared/index.js';

/** A code that credits a wallet once, unless voided. Redeemed codes have a ledger entry. */
@Entity('redemption_codes')
export class RedemptionCodeEntity {
  @PrimaryColumn('text')
  readonly id: string;

  /** SHA-256 of the code. Only selected explicitly. */
  @Column('bytea', { name: 'code_hash', select: false })
  readonly codeHash: Buffer;

  @Column(nanosColumn)
  readonly amount: Nanos;

  /** Note by the administrator who created it. */
  @Column('text', { default: '' })
  readonly note: string;

  @Column('timestamptz', { name: 'expires_at', nullable: true })
  readonly expiresAt: Date | null;

  @Column('timestamptz', { name: 'created_at', default: () => 'now()' })
  readonly createdAt: Date;

  /** Codes created together; null for codes of earlier releases. */
  @Column('text', { name: 'batch_id', nullable: true })
  readonly batchId: string | null;

  /** Null: not voided. */
  @Column('timestamptz', { name: 'voided_at', nullable: true })
  readonly voidedAt: Date | null;

  @Column('timestamptz', { name: 'redeemed_at', nullable: true })
  readonly redeemedAt: Date | null;

  @Column('text', { name: 'redeemed_by', nullable: true })
  readonly redeemedBy: string | null;

  /** The crediting ledger entry. */
  @Column('text', { name: 'entry_id', nullable: true })
  readonly entryId: string | null;
}

/** A code as administrators see it, without the code itself. */
export interface ListedCode {
  readonly id: string;
  /** Codes created together; null for codes of earlier releases. */
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
/** `voided`: invalidated by an administrator before it was redeemed. */
export type CodeState = (typeof CODE_STATES)[number];

/** Filter of codes. */
export interface CodeFilter {
  readonly state?: CodeState | undefined;
  readonly batch?: string | undefined;
  /** Substring of the ID, the note, or the email address of the account that redeemed it. */
  readonly text?: string | undefined;
}

/** Position in the list, newest first. */
export interface CodePosition {
  readonly before?: string | undefined;
  readonly after?: string | undefined;
}

/** The code cannot be redeemed; the message says why. */
export class CodeNotRedeemable extends AppError {
  static unknown(): CodeNotRedeemable {
    return new CodeNotRedeemable('Unknown code. Check that it is complete and was issued by this service.');
  }

  static expired(at: Date): CodeNotRedeemable {
    return new CodeNotRedeemable('This code expired', at);
  }

  static voided(): CodeNotRedeemable {
    return new CodeNotRedeemable('This code was voided. Contact the person who gave it to you.');
  }

  static redeemedByYou(at: Date): CodeNotRedeemable {
    return new CodeNotRedeemable('This code was already redeemed for this account', at);
  }

  /**
   * Does not say by whom or when. Typing a whole code proves possession, so this helps no one who guesses, and the
   * buyer of a code that was sold twice does not look for a typing error.
   */
  static redeemedByAnother(): CodeNotRedeemable {
    return new CodeNotRedeemable(
      'This code was already redeemed by another account. Contact the person who gave it to you.',
    );
  }

  /** @param at completes the text: `This code expired` */
  private constructor(
    private readonly text: string,
    private readonly at?: Date,
    timeZone = 'UTC',
  ) {
    const message = at === undefined ? text : `${text} on ${dateTime(at, timeZone)} ${zoneName(at, timeZone)}.`;
    super('invalid_request', message, { param: 'code' });
  }

  /** The same error for a reader in this time zone. */
  inTimeZone(timeZone: string): CodeNotRedeemable {
    return new CodeNotRedeemable(this.text, this.at, timeZone);
  }
}

/** The codes cannot be created. */
export class InvalidCodes extends AppError {
  static amount(): InvalidCodes {
    return new InvalidCodes(`A code must be worth more than $0 and at most $${formatUsd(MAX_AMOUNT)}.`, 'amount');
  }

  static count(most: number): InvalidCodes {
    return new InvalidCodes(`The number of codes must be from 1 to ${most}.`, 'count');
  }

  static note(): InvalidCodes {
    return new InvalidCodes('Enter a note of at most 200 characters without line breaks.', 'note');
  }

  static expired(): InvalidCodes {
    return new InvalidCodes('The expiry of the codes must be in the future.', 'expires');
  }

  constructor(message: string, param: string) {
    super('invalid_request', message, { param });
  }
}
