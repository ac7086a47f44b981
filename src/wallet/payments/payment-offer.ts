import type { PaymentSettings } from '../../settings/index.js';
import type { Nanos } from '../../shared/index.js';

/** What people can pay; undefined where they cannot. */
export interface PaymentOffer {
  readonly amounts: readonly Nanos[];
  readonly smallest: Nanos;
  readonly largest: Nanos;
}

export const offerIn = ({ off, amounts, smallest, largest }: PaymentSettings): PaymentOffer | undefined =>
  off === undefined ? { amounts, smallest, largest } : undefined;
