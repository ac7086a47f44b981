import { Module } from '@nestjs/common';
import { MetricsModule } from '../../platform/metrics/index.js';
import { Tracing } from './tracing.js';

@Module({ imports: [MetricsModule], providers: [Tracing], exports: [Tracing] })
export class TracingModule {}
