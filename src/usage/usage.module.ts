import { Module } from '@nestjs/common';
import { CallLookup } from './call-lookup.js';
import { CallPartitions } from './partitions.js';
import { UsageExport } from './usage-export.js';
import { UsageRepository } from './usage.repository.js';

@Module({
  providers: [UsageRepository, UsageExport, CallLookup, CallPartitions],
  exports: [UsageExport, CallLookup],
})
export class UsageModule {}
