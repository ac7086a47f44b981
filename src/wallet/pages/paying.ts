import { Injectable } from '@nestjs/common';
import { Settings } from '../../settings/index.js';
import type { Nanos } from '../../shared/index.js';
import {
  amountOf,
  Form,
  type FormBody,
  OnceForms,
  type Page,
  Redirect,
  typedAmount,
  type Visitor,
} from '../../web/index.js';
import { AmountNotPayable, CheckoutService } from '../payments/checkout.service.js';
import { PaymentsUnavailable } from '../payments/stripe-api.js';
import { PaymentForm } from './payment.form.js';
import { WalletPages } from './wallet.pages.js';

const UNAVAILABLE = 503;

/** Begins the payment of a form, which leads to the page with the way to pay it; sent twice, to the same one. */
@Injectable()
export class Paying {
  constructor(
    private readonly checkout: CheckoutService,
    private readonly settings: Settings,
    private readonly once: OnceForms,
    private readonly pages: WalletPages,
  ) {}

  async pay(visitor: Visitor, body: FormBody): Promise<Page | Redirect> {
    const payment = Form.read(PaymentForm, body);
    try {
      const result = await this.once.run(
        visitor.accountId,
        body,
        () => payment.attempt((form) => this.checkout.begin(visitor, this.amountIn(form))),
        (id) => `/wallet/payments/${id}`,
      );
      if (result === undefined) return await this.pages.show(visitor, {}, { payment });
      return new Redirect(result.location);
    } catch (error) {
      if (!(error instanceof PaymentsUnavailable)) throw error;
      payment.refuse('amount', `${error.message} Nothing was taken.`);
      return this.pages.show(visitor, {}, { payment, status: UNAVAILABLE });
    }
  }

  /** @throws AmountNotPayable */
  private amountIn({ amount, other }: PaymentForm): Nanos {
    const typed = amountOf(other) ?? typedAmount(amount);
    if (typed === undefined) throw new AmountNotPayable('Choose an amount, or enter another one.');
    // A choice is one of those that were offered: anything else was not sent by our form.
    const isOffered = this.settings.current().payment.amounts.includes(typed);
    if (other.trim() === '' && !isOffered)
      throw new AmountNotPayable('Choose one of the amounts, or enter another one.');
    return typed;
  }
}
