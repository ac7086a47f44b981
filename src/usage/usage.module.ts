import { Module } from '@nestjs/common';
import { AuthModule } from '../auth/index.js';
import { SettingsModule } from '../platform/settings/index.js';
import { StoredAnswersModule } from '../relay/stored-responses/index.js';
import { DroppedMonths } from './retention/dropped-months.repository.js';
import { CallRetention } from './retention/retention.js';
import { CallDetailsReader } from './calls/call-details.js';
import { CallLookup } from './calls/call-lookup.js';
import { KeyReportReader } from './keys/key-report.js';
import { KeyUse } from './keys/key-use.js';
import { KeyUseSums } from './keys/key-use-sums.js';
import { KeyUsesReader } from './keys/key-uses.js';
import { AllCallsReader } from '../console/usage/all-calls-reader.js';
import { LogPlaces } from '../console/usage/log-places.js';
import { LogReader } from '../console/usage/log-reader.js';
import { UsageCsv } from '../console/usage/usage-csv.js';
import { UsageLogsController } from '../console/usage/usage-logs.controller.js';
import { UsageLogsPages } from '../console/usage/usage-logs.pages.js';
import { CallPartitions } from './retention/partitions.js';
import { UsageOverviewReader } from '../console/usage/overview-reader.js';
import { TimeLimitedReads } from './time-limited-reads.js';
import { UsageDays } from './sums/usage-days.js';
import { UsageExport } from './export/usage-export.js';
import { UsageLog } from './log/usage-log.js';
import { RollerTimings, UsageRoller } from './sums/usage-roller.js';
import { UsageSumsReader } from './sums/usage-sums.js';
import { UsageRepository } from './export/usage.repository.js';

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
    CallPartitions,
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
