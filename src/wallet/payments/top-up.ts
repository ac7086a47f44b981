import { formatUsd, type Nanos } from '../../platform/shared/index.js';

/** The payment provider. */
export const PROVIDER = 'stripe';
/** Currency code, as the provider writes it. */
export const CURRENCY = 'usd';

/** How long an order can be paid. */
export const PAYABLE_MS = 60 * 60_000;
/** Reason of an order that could not be paid. */
export const NOT_OPENED = 'The payment page could not be opened.';

/**
 * `created`: no session reported yet; permanent if the process ended meanwhile. `pending`: payable, or the bank has not
 * decided. `disputed`: the payer has the money back, temporarily or for good.
 */
export type TopUpState =
  'created' | 'pending' | 'paid' | 'failed' | 'expired' | 'partly_refunded' | 'refunded' | 'disputed';

/** An order that is paid through the provider. */
export interface TopUpOrder {
  readonly id: string;
  readonly accountId: string;
  /** ID of the Checkout Session; null: none reported. */
  readonly reference: string | null;
  /** ID of the payment; null: not paid. */
  readonly payment: string | null;
  /** Payment URL; null: none. */
  readonly address: string | null;
  readonly amount: Nanos;
  readonly state: TopUpState;
  /** Why it was not paid, as far as known. */
  readonly reason: string;
  /** Reversed by refunds and disputes. */
  readonly takenBack: Nanos;
  readonly createdAt: Date;
  readonly paidAt: Date | null;
}

/** The payment URL of an order; null if it is no longer payable or its payment is in progress. */
export function payableAt(
  { state, payment, address, createdAt }: Pick<TopUpOrder, 'state' | 'payment' | 'address' | 'createdAt'>,
  now: Date,
): string | null {
  const isOpen = state === 'pending' && payment === null && now.getTime() - createdAt.getTime() < PAYABLE_MS;
  return isOpen ? address : null;
}

/** For administrators: `top_… of $25`. */
export const nameOf = ({ id, amount }: Pick<TopUpOrder, 'id' | 'amount'>): string => `${id} of $${formatUsd(amount)}`;
