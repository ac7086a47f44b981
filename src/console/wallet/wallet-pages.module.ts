import { Module } from '@nestjs/common';
import { SettingsModule } from '../../platform/settings/index.js';
import { UsageModule } from '../../usage/index.js';
import { WalletModule } from '../../wallet/index.js';
import { AccessModule } from '../access/index.js';
import { CheckoutPage } from './checkout-page.js';
import { PaymentPages } from './payment.pages.js';
import { PaymentsController } from './payments.controller.js';
import { RedeemPage } from './redeem-page.js';
import { WalletCsv } from './wallet-csv.js';
import { WalletReader } from './wallet-reader.js';
import { WalletShell } from './wallet-shell.js';
import { WalletController } from './wallet.controller.js';
import { WalletPages } from './wallet.pages.js';

@Module({
  imports: [AccessModule, SettingsModule, UsageModule, WalletModule],
  controllers: [WalletController, PaymentsController],
  providers: [CheckoutPage, PaymentPages, RedeemPage, WalletCsv, WalletPages, WalletReader, WalletShell],
})
export class WalletPagesModule {}
