import { Module } from '@nestjs/common';
import { AdminModule } from '../console/admin/index.js';
import { AlertsModule } from '../keys/alerts/index.js';
import { AuditModule } from '../platform/audit/index.js';
import { AuthModule } from '../auth/index.js';
import { ConfigModule } from '../platform/config/index.js';
import { DatabaseModule } from '../platform/database/index.js';
import { DemoModule } from './demo/index.js';
import { ErrorFilter } from './error.filter.js';
import { HomeModule } from '../console/home/index.js';
import { MetricsModule } from '../platform/metrics/index.js';
import { MonitoringModule } from './monitoring/index.js';
import { OnboardingModule } from '../auth/onboarding/index.js';
import * as protocols from '../protocols/index.js';
import { RelayModule } from '../relay/index.js';
import { TracingModule } from '../platform/tracing/index.js';
import { UsageModule } from '../usage/index.js';
import { WebModule } from '../console/web/index.js';
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
    WebModule,
    AuthModule,
    UsageModule,
    AlertsModule,
    OnboardingModule,
    DemoModule,
    HomeModule,
    AdminModule,
    ...Object.values(protocols),
    // Last: it answers every address that nothing else does.
    RelayModule,
  ],
  providers: [ErrorFilter],
})
export class AppModule {}
