import { formatUsd, type Nanos, nanos } from '../../platform/shared/index.js';
import { CURRENCY, type TopUpOrder, type TopUpState } from './top-up.js';

/** What the provider says of a checkout of ours. */
export interface CheckoutFact {
  readonly kind: 'checkout';
  /** Of the checkout. */
  readonly reference: string;
  /** Our order's id, as we gave it to the provider. */
  readonly topUpId: string;
  readonly accountId: string;
  /** Undefined where the provider says none, or one that is no amount of our currency. */
  readonly amount: Nanos | undefined;
  readonly currency: string;
  /** Of what was paid; null: nothing was yet. */
  readonly payment: string | null;
  /** `open`: nothing is decided. */
  readonly outcome: 'open' | 'paid' | 'failed' | 'expired';
  /** Why it failed; empty: nobody says. */
  readonly reason: string;
}

/** A way to pay that did not work: people can try another one. */
interface DeclineFact {
  readonly kind: 'decline';
  readonly topUpId: string;
  readonly reason: string;
}

/** What takes a payment back, or does so no longer. */
export interface ReversalFact {
  readonly kind: 'reversal';
  /** Of what it takes back, as the provider names it. */
  readonly payment: string;
  readonly currency: string;
  readonly reversal: Reversal;
  /** Of two that were told of one second the higher one holds. */
  readonly rank: number;
}

/** What was told of a payment, whoever asked: a webhook, or a reconciliation. */
export type PaymentFact = CheckoutFact | DeclineFact | ReversalFact;

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

/** What a fact says that its order does not, in words that follow the name of the fact; undefined: they match. */
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

/** One payment pays one order. @param other the order that its payment is known of; undefined: none */
export const paidElsewhere = ({ topUpId }: CheckoutFact, other: TopUpOrder | undefined): string | undefined =>
  other === undefined || other.id === topUpId ? undefined : `its payment was made for the order ${other.id}`;

/** Of what matches, and came too late. */
export const ACCOUNT_DELETED = 'its account was deleted: refund it at the provider';
