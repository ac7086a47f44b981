import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AuthModule } from '../auth/index.js';
import { UsageModule } from '../usage/index.js';
import { AllowanceCalendar } from './allowance/allowance-calendar.js';
import { AllowanceEntity, AllowanceMonthEntity } from './allowance/allowance.entity.js';
import { AllowanceRepository } from './allowance/allowance.repository.js';
import { AllowanceService } from './allowance/allowance.service.js';
import { AllowancePeriod, AllowanceTurn } from './allowance/allowance-turn.js';
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
    TypeOrmModule.forFeature([
      WalletEntity,
      LedgerEntryEntity,
      LedgerLineEntity,
      RedemptionCodeEntity,
      AllowanceEntity,
      AllowanceMonthEntity,
    ]),
  ],
  controllers: [WalletController],
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
    WalletPages,
    WalletCsv,
    WalletShell,
    Redeeming,
  ],
  exports: [
    WalletService,
    AllowanceService,
    AllowanceTurn,
    WalletStatement,
    WalletOutlook,
    RedemptionService,
    LedgerCheck,
  ],
})
export class WalletModule {}
