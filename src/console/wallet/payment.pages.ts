import { Injectable } from '@nestjs/common';
import { AppError, Clock } from '../../platform/shared/index.js';
import { Page } from '../web/index.js';
import { type Visitor } from '../../auth/index.js';
import { CheckoutService } from '../../wallet/index.js';
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
