import { Module } from '@nestjs/common';
import { MetricsModule } from '../../platform/metrics/index.js';
import { WorkersModule } from '../../platform/workers/index.js';
import { MetricsController } from './metrics.controller.js';
import { ProcessMetrics } from './process-metrics.js';
import { Scrape } from './scrape.js';

@Module({
  imports: [MetricsModule, WorkersModule],
  controllers: [MetricsController],
  providers: [ProcessMetrics, Scrape],
})
export class MonitoringModule {}
