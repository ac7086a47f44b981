import { Module } from '@nestjs/common';
import { CallPartitions } from './partitions.js';
import { UsageExport } from './usage-export.js';
import { UsageRepository } from './usage.repository.js';

@Module({
  providers: [UsageRepository, UsageExport, CallPartitions],
  exports: [UsageExport],
})
export class UsageModule {}
