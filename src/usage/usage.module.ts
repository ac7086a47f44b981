import { Module } from '@nestjs/common';
import { SettingsModule } from '../platform/settings/index.js';
import { DroppedMonths } from './retention/dropped-months.repository.js';
import { CallRetention } from './retention/retention.js';
import { CallDetailsReader } from './calls/call-details.js';
import { CallLookup } from './calls/call-lookup.js';
import { KeyReportReader } from './keys/key-report.js';
import { KeyUse } from './keys/key-use.js';
import { KeyUseSums } from './keys/key-use-sums.js';
import { KeyUsesReader } from './keys/key-uses.js';
import { CallPartitions } from './retention/partitions.js';
import { TimeLimitedReads } from './time-limited-reads.js';
import { UsageDays } from './sums/usage-days.js';
import { UsageExport } from './export/usage-export.js';
import { UsageLog } from './log/usage-log.js';
import { RollerTimings, UsageRoller } from './sums/usage-roller.js';
import { UsageSumsReader } from './sums/usage-sums.js';
import { UsageRepository } from './export/usage.repository.js';

@Module({
  imports: [SettingsModule],
  providers: [
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
    TimeLimitedReads,
    UsageDays,
    UsageLog,
    RollerTimings,
    UsageRoller,
    UsageSumsReader,
  ],
  exports: [
    CallPartitions,
    CallRetention,
    CallDetailsReader,
    UsageExport,
    CallLookup,
    KeyReportReader,
    KeyUse,
    KeyUseSums,
    KeyUsesReader,
    TimeLimitedReads,
    UsageDays,
    UsageLog,
    UsageRoller,
    UsageSumsReader,
  ],
})
export class UsageModule {}
