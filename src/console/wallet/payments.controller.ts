import { Body, Controller, Get, Injectable, Param, Post, Query } from '@nestjs/common';
import type { Visitor } from '../../auth/index.js';
import { AppError, Clock } from '../../platform/shared/index.js';
import { CheckoutService } from '../../wallet/index.js';
import { SignedIn } from '../access/index.js';
import { CurrentVisitor, type FormBody, Page, type Redirect } from '../web/index.js';
import { CheckoutPage } from './checkout-page.js';
import { paymentPage } from './payment.view.js';

/** The page of one payment: the way to pay it, and what became of it. */
@Injectable()
export class PaymentPages {
  constructor(
    private readonly checkout: CheckoutService,
    private readonly clock: Clock,
  ) {}

  /** @param from what the browser says it comes from, which proves nothing. @throws AppError when it is not theirs */
  async show({ accountId }: Visitor, id: string, from: unknown): Promise<Page> {
    const order = await this.checkout.find(accountId, id);
    if (order === undefined) throw new AppError('not_found', 'Payment not found.');
    const data = paymentPage(order, from, this.clock.date());
    return new Page('wallet/payment', { title: data.title, width: 'narrow', data });
  }
}

@SignedIn()
@Controller('wallet/payments')
export class PaymentsController {
  constructor(
    private readonly paying: CheckoutPage,
    private readonly pages: PaymentPages,
  ) {}

  @Post()
  pay(@CurrentVisitor() visitor: Visitor, @Body() body: FormBody): Promise<Page | Redirect> {
    return this.paying.pay(visitor, body);
  }

  /** @param from where Stripe sends people back from */
  @Get(':id')
  show(@CurrentVisitor() visitor: Visitor, @Param('id') id: string, @Query('from') from?: unknown): Promise<Page> {
    return this.pages.show(visitor, id, from);
  }
}
