import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { SettingsModule } from '../platform/settings/index.js';
import { UsageModule } from '../usage/index.js';
import { AllowanceEntity, AllowanceMonthEntity, AllowanceRepository } from './allowance/allowance.repository.js';
import {
  AllowanceCalendar,
  AllowancePeriod,
  AllowanceService,
  AllowanceRenewal,
} from './allowance/allowance.service.js';
import { LedgerCheck } from './ledger-check.js';
import { CheckoutService } from './payments/checkout.service.js';
import { PaymentProcessor, Webhook, WebhookController } from './payments/payment-processor.js';
import { PaymentProblemRepository, PaymentProblems } from './payments/payment-problems.js';
import { PaymentComparison, Reconciliation } from './payments/reconciliation.js';
import { StripeApi, StripeEndpoint, StripeLists } from './payments/stripe-api.js';
import { TopUpRepository } from './payments/top-up.repository.js';
import { RefusedEvents, WebhookEvents } from './payments/webhook-events.repository.js';
import { RedemptionCodeEntity } from './redemption-code.js';
import { RedemptionRepository, RedemptionService } from './redemption.service.js';
import { WalletClosure } from './wallet-closure.js';
import { WalletStatement } from './wallet-movements.js';
import { WalletOutlook } from './wallet-outlook.js';
import { LedgerEntryEntity, LedgerLineEntity, WalletEntity } from './wallet.entity.js';
import { WalletRepository } from './wallet.repository.js';
import { WalletService } from './wallet.service.js';

@Module({
  imports: [
    SettingsModule,
    UsageModule,
    TypeOrmModule.forFeature([
      WalletEntity,
      LedgerEntryEntity,
      LedgerLineEntity,
      RedemptionCodeEntity,
      AllowanceEntity,
      AllowanceMonthEntity,
    ]),
  ],
  controllers: [WebhookController],
  providers: [
    WalletRepository,
    WalletService,
    AllowanceCalendar,
    AllowancePeriod,
    AllowanceRepository,
    AllowanceService,
    AllowanceRenewal,
    RedemptionRepository,
    RedemptionService,
    LedgerCheck,
    WalletStatement,
    WalletOutlook,
    WalletClosure,
    TopUpRepository,
    WebhookEvents,
    StripeEndpoint,
    RefusedEvents,
    StripeApi,
    CheckoutService,
    PaymentProblemRepository,
    PaymentProblems,
    PaymentProcessor,
    Webhook,
    StripeLists,
    PaymentComparison,
    Reconciliation,
  ],
  exports: [
    WalletService,
    WalletStatement,
    WalletOutlook,
    CheckoutService,
    RedemptionService,
    LedgerCheck,
    WalletClosure,
    AllowanceService,
    AllowanceRenewal,
    PaymentProblems,
    Reconciliation,
  ],
})
export class WalletModule {}
