import { Module } from '@nestjs/common';
import { SettingsModule } from '../platform/settings/index.js';
import { DroppedMonths } from './retention/dropped-months.repository.js';
import { CallRetention } from './retention/retention.js';
import { CallDetailsReader } from './calls/call-details.js';
import { CallLookup } from './calls/call-lookup.js';
import { KeyReportReader } from './keys/key-report.js';
import { KeyUse, KeyUseRollups, KeyUsesReader } from './keys/key-uses.js';
import { CallPartitions } from './retention/partitions.js';
import { TimeLimitedReads } from './time-limited-reads.js';
import { UsageDays } from './rollups/usage-days.js';
import { UsageExport, UsageRepository } from './export/usage-export.js';
import { UsageLog } from './log/usage-log.js';
import { RollerTimings, UsageRoller } from './rollups/usage-roller.js';
import { UsageTotalsReader } from './rollups/usage-totals.js';

@Module({
  imports: [SettingsModule],
  providers: [
    UsageRepository,
    UsageExport,
    CallDetailsReader,
    CallLookup,
    KeyReportReader,
    KeyUse,
    KeyUseRollups,
    KeyUsesReader,
    CallPartitions,
    CallRetention,
    DroppedMonths,
    TimeLimitedReads,
    UsageDays,
    UsageLog,
    RollerTimings,
    UsageRoller,
    UsageTotalsReader,
  ],
  exports: [
    CallPartitions,
    CallRetention,
    CallDetailsReader,
    UsageExport,
    CallLookup,
    KeyReportReader,
    KeyUse,
    KeyUseRollups,
    KeyUsesReader,
    TimeLimitedReads,
    UsageDays,
    UsageLog,
    UsageRoller,
    UsageTotalsReader,
  ],
})
export class UsageModule {}
