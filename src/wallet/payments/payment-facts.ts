import type { Nanos } from '../../platform/shared/index.js';
import type { Reversal } from './reversals.js';

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
export interface DeclineFact {
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
