import { Module } from '@nestjs/common';
import { AuditModule } from '../platform/audit/index.js';
import { ConfigModule } from '../platform/config/index.js';
import { DatabaseModule } from '../platform/database/index.js';
import { DemoModule } from './demo/index.js';
import { ErrorFilter } from './error.filter.js';
import { MetricsModule } from '../platform/metrics/index.js';
import { MonitoringModule } from './monitoring/index.js';
import { ConsoleModule } from '../console/index.js';
import { WebModule } from '../console/web/index.js';
import { ApiModule, RelayModule, TracingModule } from '../relay/index.js';
import { WorkersModule } from '../platform/workers/index.js';

/** The composition root: the only file that knows every module. */
@Module({
  imports: [
    ConfigModule,
    DatabaseModule,
    AuditModule,
    MetricsModule,
    MonitoringModule,
    TracingModule,
    WorkersModule,
    DemoModule,
    WebModule,
    ConsoleModule,
    ApiModule,
    // Last: it answers every address that nothing else does.
    RelayModule,
  ],
  providers: [ErrorFilter],
})
export class AppModule {}
