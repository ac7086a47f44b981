import type { Stripe } from 'stripe';
import { nanos, type Nanos } from '../../platform/shared/index.js';
import type { CheckoutFact, PaymentFact, ReversalFact } from './payment-facts.js';

/** A cent in nano-dollars: Stripe uses a currency's smallest unit. */
const CENT = 10_000_000n;
/** Stripe's messages are shown on our pages and can be long. */
const MAX_REASON_LENGTH = 300;

/** Path of the webhook. */
export const WEBHOOK_PATH = '/webhooks/stripe';

/** Metadata key of our order's ID. */
export const TOP_UP_ID = 'top_up_id';
/** Metadata key of the account. */
export const ACCOUNT_ID = 'account_id';

/** Event types that the webhook must receive; others are accepted and ignored. */
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

/** The fact in an event; undefined: none of ours. */
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

/** Undefined for sessions that are not ours: the Stripe account may sell other things. */
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
    // Either would do; requiring both makes it harder to forge.
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

/** The total refunded of a charge. */
function refundsFact(charge: Stripe.Charge, notifiedAt: number): ReversalFact | undefined {
  const payment = idOf(charge.payment_intent);
  const amount = nanosOf(charge.amount_refunded);
  if (payment === null || amount === undefined) return undefined;
  const asOf = timeOf(notifiedAt);
  const reversal = { id: charge.id, kind: 'refunds', amount, counts: true, beganAt: asOf, asOf } as const;
  return { kind: 'reversal', payment, currency: charge.currency, reversal, rank: 0 };
}

/** @param notifiedAt Unix time in seconds of the report */
export function refundFact(refund: Stripe.Refund, notifiedAt: number): ReversalFact | undefined {
  const payment = idOf(refund.payment_intent);
  const amount = nanosOf(refund.amount);
  if (payment === null || amount === undefined) return undefined;
  const counts = refund.status !== 'failed' && refund.status !== 'canceled';
  const times = { beganAt: timeOf(refund.created), asOf: timeOf(notifiedAt) };
  const reversal = { id: refund.id, kind: 'refund', amount, counts, ...times } as const;
  // A succeeded refund can still be returned by the bank; a failed one never succeeds.
  const rank = counts ? (refund.status === 'succeeded' ? 1 : 0) : 2;
  return { kind: 'reversal', payment, currency: refund.currency, reversal, rank };
}

/** Dispute states in which the payer does not have the money: mere inquiries. */
const NOT_WITHDRAWN: readonly string[] = [
  'won',
  'prevented',
  'warning_needs_response',
  'warning_under_review',
  'warning_closed',
];
const OVER: readonly string[] = ['won', 'lost', 'prevented', 'warning_closed'];

/** @param withdrawn whether funds were withdrawn, if reported; otherwise derived from the state */
export function disputeFact(
  dispute: Stripe.Dispute,
  notifiedAt: number,
  withdrawn?: boolean,
): ReversalFact | undefined {
  const payment = idOf(dispute.payment_intent);
  const amount = nanosOf(dispute.amount);
  if (payment === null || amount === undefined) return undefined;
  const counts = withdrawn ?? !NOT_WITHDRAWN.includes(dispute.status);
  const times = { beganAt: timeOf(dispute.created), asOf: timeOf(notifiedAt) };
  const reversal = { id: dispute.id, kind: 'dispute', amount, counts, ...times } as const;
  const rank = OVER.includes(dispute.status) || withdrawn === false ? 1 : 0;
  return { kind: 'reversal', payment, currency: dispute.currency, reversal, rank };
}

/** Whole cents. */
export const centsOf = (amount: Nanos): number => Number(amount / CENT);

/** Stripe has no amounts below a cent. */
export const isWholeCents = (amount: Nanos): boolean => amount % CENT === 0n;

const nanosOf = (cents: number): Nanos | undefined =>
  Number.isSafeInteger(cents) && cents >= 0 ? nanos(BigInt(cents) * CENT) : undefined;

const timeOf = (epochSeconds: number): Date => new Date(epochSeconds * 1000);

/** An ID, whether the object is expanded or not. */
const idOf = (named: string | { readonly id: string } | null): string | null =>
  typeof named === 'object' ? (named?.id ?? null) : named;
