import { Module } from '@nestjs/common';
import { AuthModule } from '../../../auth/index.js';
import { CatalogModule } from '../../../catalog/index.js';
import { RelayModule } from '../../../relay/index.js';
import { UsageModule } from '../../../usage/index.js';
import { CallsController } from './calls.controller.js';
import { CallsCsv } from './calls-csv.js';
import { CallsPages } from './calls.pages.js';

@Module({
  imports: [AuthModule, CatalogModule, RelayModule, UsageModule],
  controllers: [CallsController],
  providers: [CallsCsv, CallsPages],
})
export class CallPagesModule {}
