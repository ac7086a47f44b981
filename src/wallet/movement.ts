import { type Nanos, nanos } from '../platform/shared/index.js';
import type { WalletEntity } from './wallet.entity.js';

/** The two sides of a wallet in a ledger entry; the house account balances them. */
export interface LedgerSides {
  /** Change of the balance. */
  readonly wallet: Nanos;
  /** Amount of debt paid; negative: new debt. */
  readonly owed: Nanos;
}

type WalletFigures = Pick<WalletEntity, 'balance' | 'held' | 'owed'>;

/** What an administrator can debit: neither held by running calls nor needed for a debt. */
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
