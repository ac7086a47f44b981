import { Module } from '@nestjs/common';
import { MetricsModule } from '../metrics/index.js';
import { WorkersModule } from '../workers/index.js';
import { CallCounts } from './call-counts.js';
import { LimitTimings } from './limit-timings.js';
import { RateLimiter } from './rate-limiter.js';

@Module({
  imports: [MetricsModule, WorkersModule],
  providers: [CallCounts, LimitTimings, RateLimiter],
  exports: [CallCounts, RateLimiter],
})
export class LimitsModule {}
