import { Module } from '@nestjs/common';
import { AuthModule } from '../auth/index.js';
import { UsageModule } from '../usage/index.js';
import { CallsController } from './calls/calls.controller.js';
import { CallsCsv } from './calls/calls-csv.js';
import { CallsPages } from './calls/calls.pages.js';

@Module({
  imports: [AuthModule, UsageModule],
  controllers: [CallsController],
  providers: [CallsCsv, CallsPages],
})
export class AdminModule {}
