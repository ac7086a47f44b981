import { type Nanos, nanos } from '../../platform/shared/index.js';
import type { AllowanceMonthEntity } from './allowance.entity.js';

/** How far an allowance is spent. */
export interface Remaining {
  /** What is left of it; part of the wallet's balance. */
  readonly remaining: Nanos;
  /** What calls have taken out of the wallet since it was given. */
  readonly spent: Nanos;
}

type MonthFigures = Pick<AllowanceMonthEntity, 'remaining' | 'spent' | 'walletBalance'>;

/**
 * What is left of an allowance in a wallet that has so much. What the wallet has less than when it was last moved, calls
 * have taken, and they take the allowance first. More than the whole balance cannot be left: what debits and refunds
 * took, when nothing else was there, is not made up for by what comes in later.
 */
export function remainingIn(month: MonthFigures, balance: Nanos): Remaining {
  const taken = largest(month.walletBalance - balance, 0n);
  return {
    remaining: nanos(largest(smallest(month.remaining - taken, balance), 0n)),
    spent: nanos(month.spent + taken),
  };
}

/** What expires at the end of the month: what no running call holds. What such a call releases later stays. */
export function expiring(remaining: Nanos, { balance, held }: Readonly<Record<'balance' | 'held', Nanos>>): Nanos {
  return nanos(largest(smallest(remaining, balance - held), 0n));
}

const smallest = (one: bigint, other: bigint): bigint => (one < other ? one : other);
const largest = (one: bigint, other: bigint): bigint => (one > other ? one : other);
