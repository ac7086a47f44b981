import { Column, Entity, PrimaryColumn } from 'typeorm';
import { nanosColumn } from '../platform/database/index.js';
import type { Nanos } from '../platform/shared/index.js';

@Entity('wallets')
export class WalletEntity {
  @PrimaryColumn('text', { name: 'account_id' })
  readonly accountId: string;

  @Column({ ...nanosColumn, default: 0 })
  readonly balance: Nanos;

  /** The part of the balance held for running calls. */
  @Column({ ...nanosColumn, default: 0 })
  readonly held: Nanos;

  /** Number of running calls. */
  @Column('integer', { default: 0 })
  readonly holds: number;

  @Column({ ...nanosColumn, default: 0 })
  readonly owed: Nanos;
}

/**
 * `owed`: a released hold that paid a debt. `redemption`: a redeemed code. `payment`: a payment. `refund`: a reversed
 * payment. `allowance`: a monthly grant; `expiry`: its unspent part.
 */
export type LedgerEntryKind =
  'credit' | 'debit' | 'calls' | 'owed' | 'redemption' | 'payment' | 'refund' | 'allowance' | 'expiry';

/** Immutable. */
@Entity('ledger_entries')
export class LedgerEntryEntity {
  @PrimaryColumn('text')
  readonly id: string;

  @Column('text')
  readonly kind: LedgerEntryKind;

  @Column('text', { default: '' })
  readonly reason: string;

  @Column('timestamptz', { name: 'created_at', default: () => 'now()' })
  readonly createdAt: Date;

  /** Insertion time by the database's clock. Entries of earlier releases have none. */
  @Column('timestamptz', { name: 'entered_at', nullable: true, default: () => 'clock_timestamp()' })
  readonly enteredAt: Date | null;
}

/** One side of an entry; the lines of an entry sum to zero. Immutable. */
@Entity('ledger_lines')
export class LedgerLineEntity {
  @PrimaryColumn('text', { name: 'entry_id' })
  readonly entryId: string;

  /** `wallet:<account id>`, `owed:<account id>` or a house account. */
  @PrimaryColumn('text', { name: 'ledger_account' })
  readonly ledgerAccount: string;

  @Column(nanosColumn)
  readonly amount: Nanos;
}
