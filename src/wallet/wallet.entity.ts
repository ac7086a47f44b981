import { Column, Entity, PrimaryColumn } from 'typeorm';
import { nanosColumn } from '../platform/database/index.js';
import { type Nanos, nanos } from '../platform/shared/index.js';

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

/** The two sides of a wallet in a ledger entry; the house account balances them. */
export interface LedgerSides {
  /** Change of the balance. */
  readonly wallet: Nanos;
  /** Amount of debt paid; negative: new debt. */
  readonly owed: Nanos;
}

type WalletFigures = Pick<WalletEntity, 'balance' | 'held' | 'owed'>;

/** The amount that an administrator can debit: neither held by running calls nor needed for a debt. */
export function freeIn({ balance, held, owed }: WalletFigures): Nanos {
  const free = balance - held - owed;
  return nanos(free > 0n ? free : 0n);
}

/** A deposit pays the debt first. */
export function topUp(wallet: WalletFigures, amount: Nanos): LedgerSides {
  const paid = smaller(wallet.owed, wallet.balance - wallet.held + amount);
  return { wallet: nanos(amount - paid), owed: nanos(paid) };
}

/** A reversal, which cannot be refused: the free balance is taken at once, the rest becomes debt. */
export function takeBack(wallet: WalletFigures, amount: Nanos): LedgerSides {
  const taken = smaller(wallet.owed + amount, wallet.balance - wallet.held);
  return { wallet: nanos(-taken), owed: nanos(taken - amount) };
}

const smaller = (one: bigint, other: bigint): bigint => (one < other ? one : other);
