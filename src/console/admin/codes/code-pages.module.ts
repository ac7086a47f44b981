import { Module } from '@nestjs/common';
import { AuthModule } from '../../../auth/index.js';
import { WalletModule } from '../../../wallet/index.js';
import { CodeBatchPages } from './code-batch.pages.js';
import { CodeListPages } from './code-list.pages.js';
import { CodesController } from './codes.controller.js';

@Module({
  imports: [AuthModule, WalletModule],
  controllers: [CodesController],
  providers: [CodeBatchPages, CodeListPages],
})
export class CodePagesModule {}
