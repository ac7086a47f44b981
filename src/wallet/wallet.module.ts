import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { SettingsModule } from '../platform/settings/index.js';
import { UsageModule } from '../usage/index.js';
import { AllowanceCalendar } from './allowance/allowance-calendar.js';
import { AllowanceEntity, AllowanceMonthEntity } from './allowance/allowance.entity.js';
import { AllowanceRepository } from './allowance/allowance.repository.js';
import { AllowanceService } from './allowance/allowance.service.js';
import { AllowancePeriod, AllowanceTurn } from './allowance/allowance-turn.js';
import { LedgerCheck } from './ledger-check.js';
import { LedgerEntryEntity, LedgerLineEntity } from './ledger.entity.js';
import { CheckoutService } from './payments/checkout.service.js';
import { PaymentBook } from './payments/payment-book.js';
import { PaymentProblemRepository } from './payments/payment-problem.repository.js';
import { PaymentProblems } from './payments/payment-problems.js';
import { RefusedEvents } from './payments/refused-events.js';
import { StripeApi } from './payments/stripe-api.js';
import { PaymentComparison } from './payments/payment-comparison.js';
import { Reconciliation } from './payments/reconciliation.js';
import { StripeLists } from './payments/stripe-lists.js';
import { StripeEndpoint } from './payments/stripe-endpoint.js';
import { WebhookEvents } from './payments/webhook-events.repository.js';
import { TopUpRepository } from './payments/top-up.repository.js';
import { Webhook } from './payments/webhook.js';
import { WebhookController } from './payments/webhook.controller.js';
import { RedemptionCodeEntity } from './redemption-code.entity.js';
import { RedemptionRepository } from './redemption.repository.js';
import { RedemptionService } from './redemption.service.js';
import { WalletClosure } from './wallet-closure.js';
import { WalletEntity } from './wallet.entity.js';
import { WalletRepository } from './wallet.repository.js';
import { WalletOutlook } from './wallet-outlook.js';
import { WalletStatement } from './wallet-statement.js';
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
    AllowanceTurn,
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
    PaymentBook,
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
    AllowanceTurn,
    PaymentProblems,
    Reconciliation,
  ],
})
export class WalletModule {}
