import { Module } from '@nestjs/common';
import { AdminModule } from './admin/index.js';
import { AlertsModule } from './alerts/index.js';
import { AuditModule } from './audit/index.js';
import { AuthModule } from './auth/index.js';
import { ConfigModule } from './config/index.js';
import { DatabaseModule } from './database/index.js';
import { DemoModule } from './demo/index.js';
import { ErrorFilter } from './error.filter.js';
import { HomeModule } from './home/index.js';
import { MetricsModule } from './metrics/index.js';
import { MonitoringModule } from './monitoring/index.js';
import { OnboardingModule } from './onboarding/index.js';
import * as protocols from './protocols/index.js';
import { RelayModule } from './relay/index.js';
import { TracingModule } from './tracing/index.js';
import { UsageModule } from './usage/index.js';
import { WebModule } from './web/index.js';
import { WorkersModule } from './workers/index.js';

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
