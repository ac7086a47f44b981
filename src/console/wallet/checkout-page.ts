import { Injectable } from '@nestjs/common';
import { Settings } from '../../platform/settings/index.js';
import { AppError } from '../../platform/shared/index.js';
import { Form, type FormBody, OnceForms, type Page, Redirect } from '../web/index.js';
import { type Visitor } from '../../auth/index.js';
import { CheckoutService, offerIn, PaymentsUnavailable, TooManyUnpaid } from '../../wallet/index.js';
import { amountIn, paymentErrors, PaymentForm } from './payment.form.js';
import { WalletPages } from './wallet.pages.js';

const UNAVAILABLE = 503;
const TOO_MANY = 429;

/** Begins the payment of a form, which leads to the page with the way to pay it; sent twice, to the same one. */
@Injectable()
export class CheckoutPage {
  constructor(
    private readonly checkout: CheckoutService,
    private readonly settings: Settings,
    private readonly once: OnceForms,
    private readonly pages: WalletPages,
  ) {}

  async pay(visitor: Visitor, body: FormBody): Promise<Page | Redirect> {
    const payment = this.read(body);
    try {
      const result = await this.once.run(
        visitor.accountId,
        body,
        () => payment.attempt((form) => this.checkout.begin(visitor, amountIn(form))),
        (id) => `/wallet/payments/${id}`,
      );
      if (result === undefined) return await this.pages.show(visitor, {}, { payment });
      return new Redirect(result.location);
    } catch (error) {
      const status = statusOf(error);
      if (!(error instanceof AppError) || status === undefined) throw error;
      // No field is at fault: what was typed can be sent again as it is.
      return this.pages.show(visitor, {}, { payment, notBegun: `${error.message} You were not charged.`, status });
    }
  }

  private read(body: FormBody): Form<PaymentForm> {
    const payment = Form.read(PaymentForm, body);
    const offer = offerIn(this.settings.current().payment);
    for (const [field, message] of offer ? paymentErrors(payment.values, offer) : []) payment.refuse(field, message);
    return payment;
  }
}

/** Of a refusal that no field is to blame for; undefined: it is something else. */
function statusOf(error: unknown): number | undefined {
  if (error instanceof TooManyUnpaid) return TOO_MANY;
  return error instanceof PaymentsUnavailable ? UNAVAILABLE : undefined;
}
