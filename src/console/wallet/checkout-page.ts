import { Injectable, Logger } from '@nestjs/common';
import { Throttle, TooManyTries, type Visit, type Visitor } from '../../auth/index.js';
import { usd } from '../../platform/format/index.js';
import { Settings } from '../../platform/settings/index.js';
import { AppError, networkOf, reasonOf } from '../../platform/shared/index.js';
import {
  CheckoutService,
  offerIn,
  PaymentsUnavailable,
  type Redemption,
  RedemptionService,
  TooManyUnpaid,
} from '../../wallet/index.js';
import { Form, type FormBody, OnceForms, type Page, Redirect } from '../web/index.js';
import { WalletPages } from './wallet.pages.js';
import { amountIn, paymentErrors, TopUpForm, RedeemForm } from './wallet.view.js';

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

  private read(body: FormBody): Form<TopUpForm> {
    const payment = Form.read(TopUpForm, body);
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

/** Redeems the code of a form: tries are counted, and a form that is sent twice is redeemed once. */
@Injectable()
export class RedeemPage {
  private readonly logger = new Logger('Wallet');

  constructor(
    private readonly codes: RedemptionService,
    private readonly throttle: Throttle,
    private readonly once: OnceForms,
    private readonly pages: WalletPages,
  ) {}

  async redeem(visitor: Visitor, { ip }: Visit, body: FormBody): Promise<Page | Redirect> {
    const form = Form.read(RedeemForm, body);
    try {
      const result = await this.once.run(
        visitor.accountId,
        body,
        () => form.attempt(({ code }) => this.attempt(visitor.accountId, ip, code)),
        () => '/wallet',
      );
      if (result === undefined) return await this.pages.show(visitor, {}, { code: form });
      return new Redirect(result.location, redeemed(result.made));
    } catch (error) {
      if (!(error instanceof TooManyTries)) throw error;
      form.refuse('code', error.message);
      return this.pages.show(visitor, {}, { code: form, status: TOO_MANY });
    }
  }

  /** What succeeds is not counted: nobody is kept from redeeming many codes that are worth something. */
  private async attempt(accountId: string, ip: string, code: string): Promise<Redemption> {
    const network = networkOf(ip);
    await this.throttle.spend('redemption-of-account', accountId);
    await this.throttle.spend('redemption-from-network', network);
    const redemption = await this.codes.redeem(accountId, code);
    await this.uncount(accountId, network);
    return redemption;
  }

  /** The money is there: that the tries stay counted is no reason to say that it is not. */
  private async uncount(accountId: string, network: string): Promise<void> {
    try {
      await this.throttle.giveBack('redemption-of-account', accountId);
      await this.throttle.giveBack('redemption-from-network', network);
    } catch (error) {
      this.logger.warn(`A code was redeemed, but the attempt is still counted: ${reasonOf(error)}`);
    }
  }
}

const redeemed = (made: Redemption | undefined) =>
  ({
    tone: 'ok',
    title: made === undefined ? 'This code was redeemed' : `${usd(made.amount)} added`,
    text:
      made === undefined
        ? 'The form was already submitted.'
        : `Your balance is ${usd(made.wallet.balance)}. It is available immediately.`,
  }) as const;
