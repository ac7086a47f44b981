import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { LedgerCheck } from './ledger-check.js';
import { LedgerEntryEntity, LedgerLineEntity } from './ledger.entity.js';
import { WalletEntity } from './wallet.entity.js';
import { WalletRepository } from './wallet.repository.js';
import { WalletService } from './wallet.service.js';

@Module({
  imports: [TypeOrmModule.forFeature([WalletEntity, LedgerEntryEntity, LedgerLineEntity])],
  providers: [WalletRepository, WalletService, LedgerCheck],
  exports: [WalletService, LedgerCheck],
})
export class WalletModule {}
