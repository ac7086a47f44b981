import { Module } from '@nestjs/common';
import { AccessModule } from '../../access/index.js';
import { WalletModule } from '../../../wallet/index.js';
import { PaymentListPages } from './payment-list.pages.js';
import { PaymentProblemPages } from './payment-problem.pages.js';
import { PaymentProblemsController } from './payments.controller.js';

@Module({
  imports: [AccessModule, WalletModule],
  controllers: [PaymentProblemsController],
  providers: [PaymentListPages, PaymentProblemPages],
})
export class PaymentPagesModule {}
