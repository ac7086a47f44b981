import { Body, Controller, Get, Param, Post, Query } from '@nestjs/common';
import { SignedIn } from '../access/index.js';
import { CurrentVisitor, type FormBody, type Page, type Redirect } from '../web/index.js';
import { type Visitor } from '../../auth/index.js';
import { CheckoutPage } from './checkout-page.js';
import { PaymentPages } from './payment.pages.js';

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
