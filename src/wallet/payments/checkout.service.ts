import { Injectable, Logger } from '@nestjs/common';
import { BaseAddress } from '../../platform/config/index.js';
import { usd } from '../../platform/format/index.js';
import { type PaymentSettings, Settings } from '../../platform/settings/index.js';
import { AppError, Clock, type Nanos, newId, reasonOf } from '../../platform/shared/index.js';
import { WalletNotFound } from '../wallet.errors.js';
import { PaymentsUnavailable, StripeApi } from './stripe-api.js';
import { ACCOUNT_ID, centsOf, isWholeCents, TOP_UP_ID } from './stripe.wire.js';
import { CURRENCY, NOT_OPENED, PAYABLE_MS, type TopUpOrder } from './top-up.js';
import { type ClosedOrder, TopUpRepository } from './top-up.repository.js';

/** Max unpaid orders. Expired ones do not count, even if the provider has not reported them. */
const MAX_UNPAID = 20;

interface Payer {
  readonly accountId: string;
  readonly email: string;
}

/** The amount cannot be paid. */
class AmountNotPayable extends AppError {
  constructor(message: string) {
    super('invalid_request', message, { param: 'other' });
  }
}

/** The account has too many unpaid orders. */
export class TooManyUnpaid extends AppError {
  constructor() {
    super(
      'rate_limit_exceeded',
      'Too many payments were started within an hour. Complete an open one or try again later.',
    );
  }
}

/** Starts payments: an order here, and a Checkout Session at Stripe. Nothing is paid by that. */
@Injectable()
export class CheckoutService {
  private readonly logger = new Logger('Payments');

  constructor(
    private readonly topUps: TopUpRepository,
    private readonly stripe: StripeApi,
    private readonly settings: Settings,
    private readonly address: BaseAddress,
    private readonly clock: Clock,
  ) {}

  /**
   * Creates a payable order.
   * @returns its ID
   * @throws AmountNotPayable, PaymentsUnavailable, TooManyUnpaid, WalletNotFound
   */
  async begin(payer: Payer, amount: Nanos): Promise<string> {
    const offer = offerIn(this.settings.current().payment);
    if (offer === undefined)
      throw new PaymentsUnavailable('Payments are currently unavailable. Contact an administrator.');
    if (!isPayable(amount, offer)) throw new AmountNotPayable(payableText(offer));
    const id = await this.order(payer.accountId, amount);
    try {
      const { reference, address } = await this.open(id, payer, amount);
      if (!(await this.topUps.open(id, reference, address, this.clock.date()))) {
        // The account was deleted while Stripe responded.
        await this.abandon([{ id, reference }]);
        throw new WalletNotFound(payer.accountId);
      }
    } catch (error) {
      await this.topUps.close(id, 'failed', NOT_OPENED, this.clock.date());
      throw error;
    }
    return id;
  }

  find(accountId: string, id: string): Promise<TopUpOrder | undefined> {
    return this.topUps.find(accountId, id);
  }

  /** Expires sessions of closed orders at Stripe; if they are paid nevertheless, administrators are alerted. */
  async abandon(orders: readonly ClosedOrder[]): Promise<void> {
    for (const { id, reference } of orders) {
      if (reference === null) continue;
      try {
        await this.stripe.ask((stripe) => stripe.checkout.sessions.expire(reference));
      } catch (error) {
        this.logger.warn(
          `Failed to close the Stripe checkout of ${id}; it stays open until it expires: ${reasonOf(error)}`,
        );
      }
    }
  }

  /** Serialized per account, so that the count is exact. @throws TooManyUnpaid, WalletNotFound */
  private async order(accountId: string, amount: Nanos): Promise<string> {
    const at = this.clock.date();
    const id = newId('top', at.getTime());
    await this.topUps.transaction(async (manager) => {
      if (!(await this.topUps.lockAccount(accountId, manager))) throw new WalletNotFound(accountId);
      const unpaid = await this.topUps.unpaidSince(accountId, new Date(at.getTime() - PAYABLE_MS), manager);
      if (unpaid >= MAX_UNPAID) throw new TooManyUnpaid();
      await this.topUps.insert(id, accountId, amount, at, manager);
    });
    return id;
  }

  /** @throws PaymentsUnavailable */
  private async open(id: string, { accountId, email }: Payer, amount: Nanos) {
    const { name } = this.settings.current().site;
    const metadata = { [TOP_UP_ID]: id, [ACCOUNT_ID]: accountId };
    const page = `${this.address.current()}/wallet/payments/${id}`;
    const price = { currency: CURRENCY, unit_amount: centsOf(amount), product_data: { name: `${name}: balance` } };
    const session = await this.stripe.ask((stripe) =>
      stripe.checkout.sessions.create(
        {
          mode: 'payment',
          client_reference_id: id,
          metadata,
          // Refunds, disputes and declines carry this metadata.
          payment_intent_data: { metadata, receipt_email: email },
          line_items: [{ quantity: 1, price_data: price }],
          // The charge is what was ordered, in its currency.
          adaptive_pricing: { enabled: false },
          customer_email: email,
          success_url: `${page}?from=paid`,
          cancel_url: `${page}?from=cancelled`,
          expires_at: Math.floor((this.clock.now() + PAYABLE_MS) / 1000),
        },
        { idempotencyKey: id },
      ),
    );
    if (session.url === null || !/^https?:\/\//.test(session.url))
      throw new PaymentsUnavailable('Stripe did not open a payment page. Retry shortly.');
    return { reference: session.id, address: session.url };
  }
}

/** Amounts that can be paid; undefined if payments are off. */
export interface PaymentOffer {
  readonly amounts: readonly Nanos[];
  /** Bounds of custom amounts. */
  readonly smallest: Nanos;
  readonly largest: Nanos;
}

export const offerIn = ({ off, amounts, smallest, largest }: PaymentSettings): PaymentOffer | undefined =>
  off === undefined ? { amounts, smallest, largest } : undefined;

export const isPayable = (amount: Nanos, { amounts, smallest, largest }: PaymentOffer): boolean =>
  amounts.includes(amount) || (isWholeCents(amount) && amount >= smallest && amount <= largest);

/** The message for an amount that cannot be paid. */
export const payableText = ({ smallest, largest }: PaymentOffer): string =>
  `Enter an amount from ${usd(smallest)} to ${usd(largest)}.`;
