import { Body, Controller, Get, Logger, Module, Post, Query, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { Throttle, TooManyAttempts, type Visit, type Visitor } from '../../auth/index.js';
import { KeysModule } from '../../keys/index.js';
import { usd } from '../../platform/format/index.js';
import { SettingsModule } from '../../platform/settings/index.js';
import { networkOf, reasonOf } from '../../platform/shared/index.js';
import { UsageModule } from '../../usage/index.js';
import { CodeNotRedeemable, type Redemption, RedemptionService, WalletModule } from '../../wallet/index.js';
import { AccessModule, Allows, SignedIn } from '../access/index.js';
import {
  CurrentVisit,
  CurrentVisitor,
  type Flash,
  Form,
  type FormBody,
  IdempotentForms,
  type Page,
  Redirect,
  sendCsv,
} from '../web/index.js';
import { PaymentsController } from './payments.controller.js';
import { WalletCsv } from './wallet-csv.js';
import { WalletPage, type WalletQuery, WalletLayoutPart } from './wallet.page.js';
import { RedeemForm } from './wallet.view.js';

@SignedIn()
@Allows('view wallet')
@Controller('wallet')
class WalletController {
  private readonly logger = new Logger('Wallet');

  constructor(
    private readonly wallet: WalletPage,
    private readonly csv: WalletCsv,
    private readonly codes: RedemptionService,
    private readonly throttle: Throttle,
    private readonly once: IdempotentForms,
  ) {}

  @Get()
  show(@CurrentVisitor() visitor: Visitor, @Query() query: WalletQuery): Promise<Page> {
    return this.wallet.show(visitor, query);
  }

  /** Redeems a code. Attempts are throttled. */
  @Post()
  @Allows('manage wallet')
  async redeem(
    @CurrentVisitor() visitor: Visitor,
    @CurrentVisit() { ip }: Visit,
    @Body() body: FormBody,
  ): Promise<Page | Redirect> {
    const code = Form.read(RedeemForm, body);
    try {
      const result = await this.once.run(
        visitor.accountId,
        body,
        () => code.attempt((form) => this.attempt(visitor, ip, form.code)),
        () => '/wallet',
      );
      if (result === undefined) return await this.wallet.show(visitor, {}, { code });
      return new Redirect(result.location, redeemed(result.made));
    } catch (error) {
      if (!(error instanceof TooManyAttempts)) throw error;
      code.refuse('code', error.message);
      return this.wallet.show(visitor, {}, { code, status: 429 });
    }
  }

  @Get('top-ups.csv')
  topUps(@CurrentVisitor() visitor: Visitor, @Res() reply: FastifyReply): void {
    sendCsv(reply, 'top-ups', this.csv.topUps(visitor));
  }

  @Get('consumption.csv')
  consumption(@CurrentVisitor() visitor: Visitor, @Res() reply: FastifyReply): void {
    sendCsv(reply, 'consumption', this.csv.consumption(visitor));
  }

  /** Counted for the user, whatever their scope. Successful attempts are not counted, so that any number of valid codes can be redeemed. */
  private async attempt({ accountId, scopeId, timeZone }: Visitor, ip: string, code: string): Promise<Redemption> {
    const network = networkOf(ip);
    await this.throttle.spend('redemption-of-account', accountId);
    await this.throttle.spend('redemption-from-network', network);
    const redemption = await this.codes.redeem(scopeId, code).catch((error: unknown): never => {
      throw error instanceof CodeNotRedeemable ? error.inTimeZone(timeZone) : error;
    });
    try {
      await this.throttle.giveBack('redemption-of-account', accountId);
      await this.throttle.giveBack('redemption-from-network', network);
    } catch (error) {
      // The money was credited: a failure to uncount the attempt is not the user's concern.
      this.logger.warn(`A code was redeemed, but the attempt is still counted: ${reasonOf(error)}`);
    }
    return redemption;
  }
}

const redeemed = (redemption: Redemption | undefined): Flash =>
  redemption === undefined
    ? { tone: 'ok', title: 'This code was already redeemed', text: 'The form was already submitted.' }
    : {
        tone: 'ok',
        title: `${usd(redemption.amount)} added`,
        text: `Your balance is ${usd(redemption.wallet.balance)}. It is available immediately.`,
      };

@Module({
  imports: [AccessModule, KeysModule, SettingsModule, UsageModule, WalletModule],
  controllers: [WalletController, PaymentsController],
  providers: [WalletCsv, WalletPage, WalletLayoutPart],
})
export class WalletPagesModule {}
