import { Module } from '@nestjs/common';
import { AccessModule } from '../../access/index.js';
import { WalletModule } from '../../../wallet/index.js';
import { CodeBatchPages } from './code-batch.pages.js';
import { CodeListPages } from './code-list.pages.js';
import { CodesController } from './codes.controller.js';

@Module({
  imports: [AccessModule, WalletModule],
  controllers: [CodesController],
  providers: [CodeBatchPages, CodeListPages],
})
export class CodePagesModule {}
