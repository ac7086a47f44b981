import { Column, Entity, PrimaryColumn } from 'typeorm';
import { nanosColumn } from '../../platform/database/index.js';
import type { Nanos } from '../../platform/shared/index.js';

/** What an account is given at the beginning of each month. Without a row: nothing. */
@Entity('allowances')
export class AllowanceEntity {
  @PrimaryColumn('text', { name: 'account_id' })
  readonly accountId: string;

  @Column(nanosColumn)
  readonly amount: Nanos;
}

/** What became of the allowance of one month. It runs until it has ended. */
@Entity('allowance_months')
export class AllowanceMonthEntity {
  @PrimaryColumn('text', { name: 'account_id' })
  readonly accountId: string;

  /** Its first day, `2026-12-01`. */
  @PrimaryColumn('date')
  readonly month: string;

  @Column(nanosColumn)
  readonly granted: Nanos;

  /** What gave it. */
  @Column('text', { name: 'entry_id' })
  readonly entryId: string;

  @Column('timestamptz', { name: 'given_at', default: () => 'clock_timestamp()' })
  readonly givenAt: Date;

  /** What was left of it when the wallet was last moved; what had expired of it since then included. */
  @Column(nanosColumn)
  readonly remaining: Nanos;

  /** What had left the wallet by calls, and by debts that were paid out of what they released, when it was last moved. */
  @Column({ ...nanosColumn, default: 0 })
  readonly spent: Nanos;

  /** What the wallet had right after it was last moved: by anything but a call. */
  @Column({ ...nanosColumn, name: 'wallet_balance' })
  readonly walletBalance: Nanos;

  /** The total that calls, and debts paid out of what they released, had taken out of the wallet when it was given. */
  @Column({ ...nanosColumn, name: 'taken_before' })
  readonly takenBefore: Nanos;

  @Column('timestamptz', { name: 'ended_at', nullable: true })
  readonly endedAt: Date | null;

  /** The same when it ended. */
  @Column({ ...nanosColumn, name: 'taken_after', nullable: true })
  readonly takenAfter: Nanos | null;

  @Column({ ...nanosColumn, nullable: true })
  readonly expired: Nanos | null;

  /** What took back what had expired; null when nothing had. */
  @Column('text', { name: 'expiry_entry_id', nullable: true })
  readonly expiryEntryId: string | null;
}
