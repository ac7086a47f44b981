import { type Nanos, nanos } from '../../platform/shared/index.js';
import type { TopUpState } from './top-up.js';

/** What takes a payment back, as the provider told of it last. */
export interface Reversal {
  /** Of the provider. */
  readonly id: string;
  /** `refunds`: what was refunded altogether, told without each refund. */
  readonly kind: 'refund' | 'refunds' | 'dispute';
  readonly amount: Nanos;
  /** Whether its amount is with the payer: not of a refund that failed, nor of a dispute that was won. */
  readonly counts: boolean;
  /** When it came to be; of `refunds`, when they were added up. */
  readonly beganAt: Date;
  /** When the provider said so. */
  readonly asOf: Date;
}

/** What the payer has of a payment again: never more than the payment was. */
export function takenBack(amount: Nanos, reversals: readonly Reversal[]): Nanos {
  const total = refunded(reversals) + sum(reversals.filter(({ kind, counts }) => kind === 'dispute' && counts));
  return nanos(total < amount ? total : amount);
}

/**
 * The provider tells of each refund and of all together, in any order. What the total says holds but for refunds in it
 * that failed since; where the single ones come to more, some of them are newer.
 */
function refunded(reversals: readonly Reversal[]): bigint {
  const single = reversals.filter(({ kind }) => kind === 'refund');
  const counted = sum(single.filter(({ counts }) => counts));
  const total = reversals.find(({ kind }) => kind === 'refunds');
  if (total === undefined) return counted;
  const failedSince = single.filter(
    ({ counts, beganAt, asOf }) => !counts && beganAt <= total.asOf && asOf >= total.asOf,
  );
  const left = total.amount - sum(failedSince);
  return left > counted ? left : counted;
}

const sum = (reversals: readonly Reversal[]): bigint => reversals.reduce((all, { amount }) => all + amount, 0n);

/** How a payment that came stands after what was taken back of it. */
export function stateAfter(amount: Nanos, taken: Nanos, reversals: readonly Reversal[]): TopUpState {
  if (reversals.some(({ kind, counts }) => kind === 'dispute' && counts)) return 'disputed';
  if (taken === 0n) return 'paid';
  return taken < amount ? 'partly_refunded' : 'refunded';
}
