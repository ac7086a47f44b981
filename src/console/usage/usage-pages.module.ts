import { Module } from '@nestjs/common';
import { StoredResponsesModule } from '../../relay/stored-responses/index.js';
import { UsageModule } from '../../usage/index.js';
import { AccessModule } from '../access/index.js';
import { AllCallsReader } from './all-calls-reader.js';
import { LogPlaces } from './log-places.js';
import { LogReader } from './log-reader.js';
import { UsageOverviewReader } from './overview-reader.js';
import { UsageCsv } from './usage-csv.js';
import { UsageLogsController } from './usage-logs.controller.js';
import { UsageLogsPages } from './usage-logs.pages.js';

@Module({
  imports: [AccessModule, StoredResponsesModule, UsageModule],
  controllers: [UsageLogsController],
  providers: [AllCallsReader, LogPlaces, LogReader, UsageCsv, UsageLogsPages, UsageOverviewReader],
  exports: [AllCallsReader, LogPlaces, UsageModule, UsageOverviewReader],
})
export class UsagePagesModule {}
