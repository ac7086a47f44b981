import { Body, Controller, Get, Module, Post, Query, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import type { Visit, Visitor } from '../../auth/index.js';
import { SettingsModule } from '../../platform/settings/index.js';
import { UsageModule } from '../../usage/index.js';
import { WalletModule } from '../../wallet/index.js';
import { AccessModule, SignedIn } from '../access/index.js';
import { CurrentVisit, CurrentVisitor, type FormBody, type Page, type Redirect, sendCsv } from '../web/index.js';
import { CheckoutPage, RedeemPage } from './checkout-page.js';
import { PaymentPages, PaymentsController } from './payments.controller.js';
import { WalletCsv } from './wallet-csv.js';
import { type WalletEntry, WalletPages, WalletReader, WalletShell } from './wallet.pages.js';

@SignedIn()
@Controller('wallet')
class WalletController {
  constructor(
    private readonly pages: WalletPages,
    private readonly redeeming: RedeemPage,
    private readonly csv: WalletCsv,
  ) {}

  @Get()
  show(@CurrentVisitor() visitor: Visitor, @Query() entry: WalletEntry): Promise<Page> {
    return this.pages.show(visitor, entry);
  }

  @Post()
  redeem(
    @CurrentVisitor() visitor: Visitor,
    @CurrentVisit() visit: Visit,
    @Body() body: FormBody,
  ): Promise<Page | Redirect> {
    return this.redeeming.redeem(visitor, visit, body);
  }

  @Get('top-ups.csv')
  topUps(@CurrentVisitor() visitor: Visitor, @Res() reply: FastifyReply): void {
    sendCsv(reply, 'top-ups', this.csv.topUps(visitor));
  }

  @Get('consumption.csv')
  consumption(@CurrentVisitor() visitor: Visitor, @Res() reply: FastifyReply): void {
    sendCsv(reply, 'consumption', this.csv.consumption(visitor));
  }
}

@Module({
  imports: [AccessModule, SettingsModule, UsageModule, WalletModule],
  controllers: [WalletController, PaymentsController],
  providers: [CheckoutPage, PaymentPages, RedeemPage, WalletCsv, WalletPages, WalletReader, WalletShell],
})
export class WalletPagesModule {}
