import type { Stripe } from 'stripe';
import { nanos, type Nanos } from '../../platform/shared/index.js';
import type { CheckoutFact, PaymentFact, ReversalFact } from './payment-facts.js';

/** A cent in nano-dollars: Stripe counts in the smallest unit of a currency. */
const CENT = 10_000_000n;
/** What Stripe says to people is shown on our pages, and it can say much. */
const MAX_REASON_LENGTH = 300;

/** Where Stripe tells of what happens. */
export const WEBHOOK_PATH = '/webhooks/stripe';

/** The name of our order's id in what Stripe keeps beside its objects. */
export const TOP_UP_ID = 'top_up_id';
/** The account's. */
export const ACCOUNT_ID = 'account_id';

/** The events that an endpoint has to be told of; all others are taken and do nothing. */
export const EVENT_TYPES = [
  'checkout.session.completed',
  'checkout.session.async_payment_succeeded',
  'checkout.session.async_payment_failed',
  'checkout.session.expired',
  'payment_intent.payment_failed',
  'charge.refunded',
  'refund.created',
  'refund.updated',
  'refund.failed',
  'charge.dispute.created',
  'charge.dispute.updated',
  'charge.dispute.funds_withdrawn',
  'charge.dispute.funds_reinstated',
  'charge.dispute.closed',
] as const;

/** What an event says of a payment of ours; undefined: nothing. */
export function factOf(event: Stripe.Event): PaymentFact | undefined {
  switch (event.type) {
    case 'checkout.session.completed':
    case 'checkout.session.async_payment_succeeded':
    case 'checkout.session.expired':
      return checkoutFact(event.data.object);
    case 'checkout.session.async_payment_failed':
      return checkoutFact(event.data.object, 'failed');
    case 'payment_intent.payment_failed':
      return declineFact(event.data.object);
    case 'charge.refunded':
      return refundsFact(event.data.object, event.created);
    case 'refund.created':
    case 'refund.updated':
    case 'refund.failed':
    case 'charge.refund.updated':
      return refundFact(event.data.object, event.created);
    case 'charge.dispute.created':
    case 'charge.dispute.updated':
    case 'charge.dispute.closed':
      return disputeFact(event.data.object, event.created);
    case 'charge.dispute.funds_withdrawn':
      return disputeFact(event.data.object, event.created, true);
    case 'charge.dispute.funds_reinstated':
      return disputeFact(event.data.object, event.created, false);
    default:
      return undefined;
  }
}

/** Undefined for a checkout that is none of ours: an account at Stripe may sell other things too. */
export function checkoutFact(
  session: Stripe.Checkout.Session,
  outcome = checkoutOutcome(session),
): CheckoutFact | undefined {
  const topUpId = session.metadata?.[TOP_UP_ID];
  if (topUpId === undefined) return undefined;
  return {
    kind: 'checkout',
    reference: session.id,
    topUpId,
    // Either would do; that both say the same is a reason more to believe it.
    accountId: session.client_reference_id === topUpId ? (session.metadata?.[ACCOUNT_ID] ?? '') : '',
    amount: session.amount_total === null ? undefined : nanosOf(session.amount_total),
    currency: session.currency ?? '',
    payment: idOf(session.payment_intent),
    outcome,
    reason: outcome === 'failed' ? 'The payment failed.' : '',
  };
}

function checkoutOutcome({ status, payment_status }: Stripe.Checkout.Session): CheckoutFact['outcome'] {
  if (payment_status === 'paid') return 'paid';
  return status === 'expired' ? 'expired' : 'open';
}

function declineFact({ metadata, last_payment_error }: Stripe.PaymentIntent): PaymentFact | undefined {
  const topUpId = metadata[TOP_UP_ID];
  if (topUpId === undefined) return undefined;
  const reason = last_payment_error?.message ?? 'The payment failed.';
  return { kind: 'decline', topUpId, reason: reason.slice(0, MAX_REASON_LENGTH) };
}

/** All refunds of a charge together. */
function refundsFact(charge: Stripe.Charge, toldAt: number): ReversalFact | undefined {
  const payment = idOf(charge.payment_intent);
  const amount = nanosOf(charge.amount_refunded);
  if (payment === null || amount === undefined) return undefined;
  const asOf = timeOf(toldAt);
  const reversal = { id: charge.id, kind: 'refunds', amount, counts: true, beganAt: asOf, asOf } as const;
  return { kind: 'reversal', payment, currency: charge.currency, reversal, rank: 0 };
}

/** @param toldAt when Stripe said so, in seconds */
export function refundFact(refund: Stripe.Refund, toldAt: number): ReversalFact | undefined {
  const payment = idOf(refund.payment_intent);
  const amount = nanosOf(refund.amount);
  if (payment === null || amount === undefined) return undefined;
  const counts = refund.status !== 'failed' && refund.status !== 'canceled';
  const times = { beganAt: timeOf(refund.created), asOf: timeOf(toldAt) };
  const reversal = { id: refund.id, kind: 'refund', amount, counts, ...times } as const;
  // One that went through can still come back from the bank; one that failed never goes through.
  const rank = counts ? (refund.status === 'succeeded' ? 1 : 0) : 2;
  return { kind: 'reversal', payment, currency: refund.currency, reversal, rank };
}

/** The payer has the money back from the start of a dispute, or not at all: that is a mere inquiry. */
const NOT_WITHDRAWN: readonly string[] = [
  'won',
  'prevented',
  'warning_needs_response',
  'warning_under_review',
  'warning_closed',
];
const OVER: readonly string[] = ['won', 'lost', 'prevented', 'warning_closed'];

/** @param withdrawn where that is told; otherwise it follows from how the dispute stands */
export function disputeFact(dispute: Stripe.Dispute, toldAt: number, withdrawn?: boolean): ReversalFact | undefined {
  const payment = idOf(dispute.payment_intent);
  const amount = nanosOf(dispute.amount);
  if (payment === null || amount === undefined) return undefined;
  const counts = withdrawn ?? !NOT_WITHDRAWN.includes(dispute.status);
  const times = { beganAt: timeOf(dispute.created), asOf: timeOf(toldAt) };
  const reversal = { id: dispute.id, kind: 'dispute', amount, counts, ...times } as const;
  const rank = OVER.includes(dispute.status) || withdrawn === false ? 1 : 0;
  return { kind: 'reversal', payment, currency: dispute.currency, reversal, rank };
}

/** Whole cents. */
export const centsOf = (amount: Nanos): number => Number(amount / CENT);

/** Whether an amount can be paid: Stripe knows nothing below a cent. */
export const isWholeCents = (amount: Nanos): boolean => amount % CENT === 0n;

const nanosOf = (cents: number): Nanos | undefined =>
  Number.isSafeInteger(cents) && cents >= 0 ? nanos(BigInt(cents) * CENT) : undefined;

const timeOf = (epochSeconds: number): Date => new Date(epochSeconds * 1000);

/** What Stripe names by its id, or sends whole. */
const idOf = (named: string | { readonly id: string } | null): string | null =>
  typeof named === 'object' ? (named?.id ?? null) : named;
