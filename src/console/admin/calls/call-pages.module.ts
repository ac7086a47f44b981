import { Module } from '@nestjs/common';
import { AccessModule } from '../../access/index.js';
import { CatalogModule } from '../../../catalog/index.js';
import { RelayModule } from '../../../relay/index.js';
import { UsagePagesModule } from '../../usage/index.js';
import { CallsController } from './calls.controller.js';
import { CallsCsv } from './calls-csv.js';
import { CallsPages } from './calls.pages.js';

@Module({
  imports: [AccessModule, CatalogModule, RelayModule, UsagePagesModule],
  controllers: [CallsController],
  providers: [CallsCsv, CallsPages],
})
export class CallPagesModule {}
