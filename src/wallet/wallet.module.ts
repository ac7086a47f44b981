import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { LedgerCheck } from './ledger-check.js';
import { LedgerEntryEntity, LedgerLineEntity } from './ledger.entity.js';
import { RedemptionCodeEntity } from './redemption-code.entity.js';
import { RedemptionRepository } from './redemption.repository.js';
import { RedemptionService } from './redemption.service.js';
import { UsageModule } from '../usage/index.js';
import { WalletEntity } from './wallet.entity.js';
import { WalletRepository } from './wallet.repository.js';
import { WalletStatement } from './wallet-statement.js';
import { WalletService } from './wallet.service.js';

@Module({
  imports: [UsageModule, TypeOrmModule.forFeature([WalletEntity, LedgerEntryEntity, LedgerLineEntity, RedemptionCodeEntity])],
  providers: [WalletRepository, WalletService, RedemptionRepository, RedemptionService, LedgerCheck, WalletStatement],
  exports: [WalletService, RedemptionService, LedgerCheck],
})
export class WalletModule {}
