import { Module } from '@nestjs/common';
import { AuthModule } from '../auth/index.js';
import { SettingsModule } from '../settings/index.js';
import { StoredAnswersModule } from '../stored-answers/index.js';
import { DroppedMonths } from './dropped-months.repository.js';
import { CallRetention } from './retention.js';
import { CallDetailsReader } from './call-details.js';
import { CallLookup } from './call-lookup.js';
import { KeyReportReader } from './key-report.js';
import { KeyUse } from './key-use.js';
import { KeyUseSums } from './key-use-sums.js';
import { KeyUsesReader } from './key-uses.js';
import { AllCallsReader } from './pages/all-calls-reader.js';
import { LogPlaces } from './pages/log-places.js';
import { LogReader } from './pages/log-reader.js';
import { UsageCsv } from './pages/usage-csv.js';
import { UsageLogsController } from './pages/usage-logs.controller.js';
import { UsageLogsPages } from './pages/usage-logs.pages.js';
import { CallPartitions } from './partitions.js';
import { UsageOverviewReader } from './overview-reader.js';
import { TimeLimitedReads } from './time-limited-reads.js';
import { UsageDays } from './usage-days.js';
import { UsageExport } from './usage-export.js';
import { UsageLog } from './usage-log.js';
import { RollerTimings, UsageRoller } from './usage-roller.js';
import { UsageSumsReader } from './usage-sums.js';
import { UsageRepository } from './usage.repository.js';

@Module({
  imports: [AuthModule, SettingsModule, StoredAnswersModule],
  controllers: [UsageLogsController],
  providers: [
    AllCallsReader,
    UsageRepository,
    UsageExport,
    CallDetailsReader,
    CallLookup,
    KeyReportReader,
    KeyUse,
    KeyUseSums,
    KeyUsesReader,
    CallPartitions,
    CallRetention,
    DroppedMonths,
    LogPlaces,
    LogReader,
    UsageCsv,
    UsageLogsPages,
    TimeLimitedReads,
    UsageDays,
    UsageLog,
    UsageOverviewReader,
    RollerTimings,
    UsageRoller,
    UsageSumsReader,
  ],
  exports: [
    CallRetention,
    AllCallsReader,
    CallDetailsReader,
    LogPlaces,
    UsageExport,
    CallLookup,
    KeyReportReader,
    KeyUse,
    KeyUseSums,
    KeyUsesReader,
    TimeLimitedReads,
    UsageDays,
    UsageOverviewReader,
    UsageRoller,
    UsageSumsReader,
  ],
})
export class UsageModule {}
