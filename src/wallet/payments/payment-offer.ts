import type { PaymentSettings } from '../../platform/settings/index.js';
import type { Nanos } from '../../platform/shared/index.js';
import { usd } from '../../platform/format/index.js';
import { isWholeCents } from './stripe.wire.js';

/** What people can pay; undefined where they cannot. */
export interface PaymentOffer {
  readonly amounts: readonly Nanos[];
  /** Of another amount. */
  readonly smallest: Nanos;
  readonly largest: Nanos;
}

export const offerIn = ({ off, amounts, smallest, largest }: PaymentSettings): PaymentOffer | undefined =>
  off === undefined ? { amounts, smallest, largest } : undefined;

export const isPayable = (amount: Nanos, { amounts, smallest, largest }: PaymentOffer): boolean =>
  amounts.includes(amount) || (isWholeCents(amount) && amount >= smallest && amount <= largest);

/** What to enter instead of an amount that cannot be paid: all of it, whichever part is not met. */
export const payableText = ({ smallest, largest }: PaymentOffer): string =>
  `Enter an amount from ${usd(smallest)} to ${usd(largest)}.`;
