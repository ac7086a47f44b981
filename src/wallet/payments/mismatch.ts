import { formatUsd } from '../../platform/shared/index.js';
import type { CheckoutFact, ReversalFact } from './payment-facts.js';
import { CURRENCY, type TopUpOrder } from './top-up.js';

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
