import { Column, Entity, PrimaryColumn } from 'typeorm';
import { nanosColumn } from '../platform/database/index.js';
import type { Nanos } from '../platform/shared/index.js';

@Entity('wallets')
export class WalletEntity {
  @PrimaryColumn('text', { name: 'account_id' })
  readonly accountId: string;

  @Column({ ...nanosColumn, default: 0 })
  readonly balance: Nanos;

  /** The part of the balance that running calls may still use up. */
  @Column({ ...nanosColumn, default: 0 })
  readonly held: Nanos;

  /** How many running calls hold it. */
  @Column('integer', { default: 0 })
  readonly holds: number;

  @Column({ ...nanosColumn, default: 0 })
  readonly owed: Nanos;
}

/**
 * `owed`: a release that paid what its account owes. `redemption`: a code that was redeemed. `payment`: what came
 * through a payment provider. `refund`: a payment that was taken back, whoever asked for it. `allowance`: what an account
 * is given for a month; `expiry`: what of it was not spent.
 */
export type LedgerEntryKind =
  'credit' | 'debit' | 'calls' | 'owed' | 'redemption' | 'payment' | 'refund' | 'allowance' | 'expiry';

/** Why money moved. Never changed. */
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

  /** When the database took it in, by its own clock. Entries of earlier releases have none. */
  @Column('timestamptz', { name: 'entered_at', nullable: true, default: () => 'clock_timestamp()' })
  readonly enteredAt: Date | null;
}

/** One side of an entry; the lines of an entry sum to zero. Never changed. */
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
