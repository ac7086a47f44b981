import { Body, Controller, Get, Param, Post, Query } from '@nestjs/common';
import type { Visitor } from '../../auth/index.js';
import { Settings } from '../../platform/settings/index.js';
import { AppError, Clock } from '../../platform/shared/index.js';
import { CheckoutService, offerIn, PaymentsUnavailable, TooManyUnpaid } from '../../wallet/index.js';
import { Allows, SignedIn } from '../access/index.js';
import { CurrentVisitor, Form, type FormBody, IdempotentForms, Page, Redirect } from '../web/index.js';
import { paymentView } from './payment.view.js';
import { WalletPage } from './wallet.page.js';
import { amountIn, paymentErrors, TopUpForm } from './wallet.view.js';

@SignedIn()
@Allows('view wallet')
@Controller('wallet/payments')
export class PaymentsController {
  constructor(
    private readonly checkout: CheckoutService,
    private readonly wallet: WalletPage,
    private readonly settings: Settings,
    private readonly once: IdempotentForms,
    private readonly clock: Clock,
  ) {}

  /** Starts a payment and redirects to its page; submitted again, to the same one. */
  @Post()
  @Allows('manage wallet')
  async pay(@CurrentVisitor() visitor: Visitor, @Body() body: FormBody): Promise<Page | Redirect> {
    const payment = Form.read(TopUpForm, body);
    const offer = offerIn(this.settings.current().payment);
    for (const [field, message] of offer ? paymentErrors(payment.values, offer) : []) payment.refuse(field, message);
    try {
      const result = await this.once.run(
        visitor.accountId,
        body,
        () =>
          payment.attempt((form) =>
            this.checkout.begin({ accountId: visitor.scopeId, email: visitor.email }, amountIn(form)),
          ),
        (id) => `/wallet/payments/${id}`,
      );
      if (result === undefined) return await this.wallet.show(visitor, {}, { payment });
      return new Redirect(result.location);
    } catch (error) {
      if (!(error instanceof TooManyUnpaid || error instanceof PaymentsUnavailable)) throw error;
      // The fields are valid: the form can be submitted again as it is.
      const notStarted = `${error.message} You were not charged.`;
      const status = error instanceof TooManyUnpaid ? 429 : 503;
      return this.wallet.show(visitor, {}, { payment, notStarted, status });
    }
  }

  /** @param from set in the return URL from Stripe; not trusted @throws AppError for payments of other accounts */
  @Get(':id')
  async show(
    @CurrentVisitor() { scopeId }: Visitor,
    @Param('id') id: string,
    @Query('from') from?: unknown,
  ): Promise<Page> {
    const order = await this.checkout.find(scopeId, id);
    if (order === undefined) throw new AppError('not_found', 'Payment not found.');
    const data = paymentView(order, from, this.clock.date());
    return new Page('wallet/payment', { title: data.title, width: 'narrow', data });
  }
}
