import { type Nanos, nanos } from '../platform/shared/index.js';
import type { WalletEntity } from './wallet.entity.js';

/** The two sides of a wallet in one ledger entry; the house's side is what makes the sum zero. */
export interface Movement {
  /** What the balance gains; negative: loses. */
  readonly wallet: Nanos;
  /** What is paid of the debt; negative: it grows by that. */
  readonly owed: Nanos;
}

type WalletFigures = Pick<WalletEntity, 'balance' | 'held' | 'owed'>;

/** What is left for an operator's debit: not what running calls may use, nor what pays a debt. */
export function freeIn({ balance, held, owed }: WalletFigures): Nanos {
  const free = balance - held - owed;
  return nanos(free > 0n ? free : 0n);
}

/** Money that comes in pays what is owed first. */
export function topUp(wallet: WalletFigures, amount: Nanos): Movement {
  const paid = smaller(wallet.owed, wallet.balance - wallet.held + amount);
  return { wallet: nanos(amount - paid), owed: nanos(paid) };
}

/** Money that is taken back and cannot be refused: what is free goes at once, the rest is owed. */
export function takeBack(wallet: WalletFigures, amount: Nanos): Movement {
  const taken = smaller(wallet.owed + amount, wallet.balance - wallet.held);
  return { wallet: nanos(-taken), owed: nanos(taken - amount) };
}

const smaller = (one: bigint, other: bigint): bigint => (one < other ? one : other);
