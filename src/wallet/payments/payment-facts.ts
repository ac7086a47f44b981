import { formatUsd, type Nanos, nanos } from '../../platform/shared/index.js';
import { CURRENCY, type TopUpOrder, type TopUpState } from './top-up.js';

/** State of a Checkout Session of ours. */
export interface CheckoutFact {
  readonly kind: 'checkout';
  /** ID of the session. */
  readonly reference: string;
  /** Our order's ID, as given to the provider. */
  readonly topUpId: string;
  readonly accountId: string;
  /** Undefined if missing or not in our currency. */
  readonly amount: Nanos | undefined;
  readonly currency: string;
  /** ID of the payment; null: not paid yet. */
  readonly payment: string | null;
  /** `open`: undecided. */
  readonly outcome: 'open' | 'paid' | 'failed' | 'expired';
  /** Reason of the failure, if known. */
  readonly reason: string;
}

/** A declined payment method; the user can try another one. */
interface DeclineFact {
  readonly kind: 'decline';
  readonly topUpId: string;
  readonly reason: string;
}

/** A refund or dispute, or its reversal. */
export interface ReversalFact {
  readonly kind: 'reversal';
  /** The provider's ID of the reversed payment. */
  readonly payment: string;
  readonly currency: string;
  readonly reversal: Reversal;
  /** Among facts of the same second, the higher one wins. */
  readonly rank: number;
}

/** Reported by webhook or found by reconciliation. */
export type PaymentFact = CheckoutFact | DeclineFact | ReversalFact;

/** A reversal, as last reported by the provider. */
export interface Reversal {
  /** The provider's ID. */
  readonly id: string;
  /** `refunds`: the total refunded, reported without individual refunds. */
  readonly kind: 'refund' | 'refunds' | 'dispute';
  readonly amount: Nanos;
  /** Whether the payer has the money: not for failed refunds and won disputes. */
  readonly counts: boolean;
  /** Creation time; for `refunds`, when the total was computed. */
  readonly beganAt: Date;
  /** When the provider reported it. */
  readonly asOf: Date;
}

/** The amount returned to the payer, at most the payment. */
export function takenBack(amount: Nanos, reversals: readonly Reversal[]): Nanos {
  const total = refunded(reversals) + sum(reversals.filter(({ kind, counts }) => kind === 'dispute' && counts));
  return nanos(total < amount ? total : amount);
}

/**
 * The provider reports individual refunds and their total, in any order. The total applies, less its refunds that
 * failed since; a higher sum of individual refunds includes newer ones.
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

/** State of a paid order after its reversals. */
export function stateAfter(amount: Nanos, taken: Nanos, reversals: readonly Reversal[]): TopUpState {
  if (reversals.some(({ kind, counts }) => kind === 'dispute' && counts)) return 'disputed';
  if (taken === 0n) return 'paid';
  return taken < amount ? 'partly_refunded' : 'refunded';
}

/** How a fact contradicts its order, to follow the fact's name; undefined: it matches. */
export function mismatchOf(fact: CheckoutFact | ReversalFact, order: TopUpOrder | undefined): string | undefined {
  if (fact.currency !== CURRENCY) return `it is in the currency “${fact.currency}”, not in US dollars`;
  return fact.kind === 'checkout' ? ofCheckout(fact, order) : undefined;
}

function ofCheckout(fact: CheckoutFact, order: TopUpOrder | undefined): string | undefined {
  if (order === undefined) return `it refers to the unknown order ${fact.topUpId}`;
  if (fact.accountId !== order.accountId) return 'it refers to a different account than its order';
  if (order.reference !== null && order.reference !== fact.reference)
    return `its order was given the checkout ${order.reference}`;
  if (order.payment !== null && fact.payment !== null && order.payment !== fact.payment)
    return `its order was paid by ${order.payment}`;
  if (fact.amount === order.amount) return undefined;
  const said = fact.amount === undefined ? 'no amount' : `$${formatUsd(fact.amount)}`;
  return `its amount is ${said}, but its order is for $${formatUsd(order.amount)}`;
}

/** One payment pays one order. @param other the order that has this payment; undefined: none */
export const paidElsewhere = ({ topUpId }: CheckoutFact, other: TopUpOrder | undefined): string | undefined =>
  other === undefined || other.id === topUpId ? undefined : `its payment was made for the order ${other.id}`;

/** For facts that match but come too late. */
export const ACCOUNT_DELETED = 'its account was deleted: refund it at the provider';
