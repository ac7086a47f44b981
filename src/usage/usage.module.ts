import { Module } from '@nestjs/common';
import { CallLookup } from './call-lookup.js';
import { KeyUse } from './key-use.js';
import { CallPartitions } from './partitions.js';
import { FirstTokenTimesReader } from './first-token-times.js';
import { TimeLimitedReads } from './time-limited-reads.js';
import { UsageDays } from './usage-days.js';
import { UsageExport } from './usage-export.js';
import { UsageLog } from './usage-log.js';
import { UsageSummary } from './usage-summary.js';
import { UsageSumsReader } from './usage-sums.js';
import { UsageRepository } from './usage.repository.js';

@Module({
  providers: [
    UsageRepository,
    UsageExport,
    CallLookup,
    KeyUse,
    CallPartitions,
    FirstTokenTimesReader,
    TimeLimitedReads,
    UsageDays,
    UsageLog,
    UsageSummary,
    UsageSumsReader,
  ],
  exports: [UsageExport, CallLookup, KeyUse, TimeLimitedReads, UsageDays, UsageSummary],
})
export class UsageModule {}
