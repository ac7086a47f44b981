import { Module } from '@nestjs/common';
import { CatalogModule } from '../../catalog/index.js';
import { KeysModule } from '../../keys/index.js';
import { MetricsModule } from '../../platform/metrics/index.js';
import { TokensModule } from '../../protocols/tokens/index.js';
import { UsageModule } from '../../usage/index.js';
import { AdmissionTrial } from './admission-trial.js';
import { AdmissionHealth } from './admission.js';
import { CallMetrics, MoneyMetrics } from './billing-metrics.js';
import { BillingRepository } from './billing.repository.js';
import { BillingService } from './billing.service.js';
import { IdempotencyKeys } from './idempotency-keys.js';
import { SettlementQueue } from './settlement-queue.js';
import { Presence, ProcessRepository, SweepTimings, CurrentProcess } from './sweeper/presence.js';
import { InterruptedCalls, Sweeper } from './sweeper/sweeper.js';

@Module({
  imports: [CatalogModule, KeysModule, MetricsModule, TokensModule, UsageModule],
  providers: [
    AdmissionHealth,
    AdmissionTrial,
    BillingRepository,
    BillingService,
    CallMetrics,
    MoneyMetrics,
    IdempotencyKeys,
    SettlementQueue,
    InterruptedCalls,
    Presence,
    ProcessRepository,
    Sweeper,
    SweepTimings,
    CurrentProcess,
  ],
  exports: [AdmissionHealth, AdmissionTrial, BillingService, InterruptedCalls, IdempotencyKeys, Sweeper],
})
export class BillingModule {}
