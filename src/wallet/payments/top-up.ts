import { formatUsd, type Nanos } from '../../platform/shared/index.js';

/** Of whom a payment is made. */
export const PROVIDER = 'stripe';
/** As the provider writes it. */
export const CURRENCY = 'usd';

/** So long people can pay an order. */
export const PAYABLE_MS = 60 * 60_000;
/** Why nothing came of an order that nobody could pay. */
export const NOT_OPENED = 'The payment page could not be opened.';

/**
 * `created`: the provider has told of no checkout yet; where the process ended meanwhile it may never. `pending`: people can
 * pay, or their bank has not said yet. `disputed`: whoever paid has the money back for now, or for good.
 */
export type TopUpState =
  'created' | 'pending' | 'paid' | 'failed' | 'expired' | 'partly_refunded' | 'refunded' | 'disputed';

/** An order of money that is paid through a provider. */
export interface TopUpOrder {
  readonly id: string;
  readonly accountId: string;
  /** Of the provider's checkout; null: it has not told one. */
  readonly reference: string | null;
  /** Of what was paid in it, as the provider names it; null: nothing was. */
  readonly payment: string | null;
  /** Where people pay; null: nowhere. */
  readonly address: string | null;
  readonly amount: Nanos;
  readonly state: TopUpState;
  /** Why nothing came of it, as far as anybody has said. */
  readonly reason: string;
  /** What refunds and disputes have taken from the wallet again. */
  readonly takenBack: Nanos;
  readonly createdAt: Date;
  readonly paidAt: Date | null;
}

/** Where people can pay an order now; null: nowhere any more, or not again, since their money is on its way. */
export function payableAt(
  { state, payment, address, createdAt }: Pick<TopUpOrder, 'state' | 'payment' | 'address' | 'createdAt'>,
  now: Date,
): string | null {
  const isOpen = state === 'pending' && payment === null && now.getTime() - createdAt.getTime() < PAYABLE_MS;
  return isOpen ? address : null;
}

/** As operators read of it: `top_… of $25`. */
export const nameOf = ({ id, amount }: Pick<TopUpOrder, 'id' | 'amount'>): string => `${id} of $${formatUsd(amount)}`;
