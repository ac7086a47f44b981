import { Module } from '@nestjs/common';
import { CatalogModule } from '../catalog/index.js';
import { KeysModule } from '../keys/index.js';
import { BillingRepository } from './billing.repository.js';
import { BillingService } from './billing.service.js';
import { SettlementQueue } from './settlement-queue.js';

@Module({
  imports: [CatalogModule, KeysModule],
  providers: [BillingRepository, BillingService, SettlementQueue],
  exports: [BillingService],
})
export class BillingModule {}
