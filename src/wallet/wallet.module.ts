import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AuthModule } from '../auth/index.js';
import { UsageModule } from '../usage/index.js';
import { LedgerCheck } from './ledger-check.js';
import { LedgerEntryEntity, LedgerLineEntity } from './ledger.entity.js';
import { Redeeming } from './pages/redeeming.js';
import { WalletCsv } from './pages/wallet-csv.js';
import { WalletShell } from './pages/wallet-shell.js';
import { WalletController } from './pages/wallet.controller.js';
import { WalletPages } from './pages/wallet.pages.js';
import { RedemptionCodeEntity } from './redemption-code.entity.js';
import { RedemptionRepository } from './redemption.repository.js';
import { RedemptionService } from './redemption.service.js';
import { WalletEntity } from './wallet.entity.js';
import { WalletRepository } from './wallet.repository.js';
import { WalletOutlook } from './wallet-outlook.js';
import { WalletStatement } from './wallet-statement.js';
import { WalletService } from './wallet.service.js';

@Module({
  imports: [
    AuthModule,
    UsageModule,
    TypeOrmModule.forFeature([WalletEntity, LedgerEntryEntity, LedgerLineEntity, RedemptionCodeEntity]),
  ],
  controllers: [WalletController],
  providers: [
    WalletRepository,
    WalletService,
    RedemptionRepository,
    RedemptionService,
    LedgerCheck,
    WalletStatement,
    WalletOutlook,
    WalletPages,
    WalletCsv,
    WalletShell,
    Redeeming,
  ],
  exports: [WalletService, WalletStatement, WalletOutlook, RedemptionService, LedgerCheck],
})
export class WalletModule {}
