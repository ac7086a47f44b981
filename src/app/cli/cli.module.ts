import { Module } from '@nestjs/common';
import { AuditModule } from '../../platform/audit/index.js';
import { AuthModule } from '../../auth/index.js';
import { CatalogModule } from '../../catalog/index.js';
import { ChannelsModule } from '../../catalog/channels/index.js';
import { ConfigModule } from '../../platform/config/index.js';
import { DatabaseModule } from '../../platform/database/index.js';
import { KeysModule } from '../../keys/index.js';
import { OnboardingModule } from '../../keys/onboarding/index.js';
import { ApiModule } from '../../relay/index.js';
import { UsageModule } from '../../usage/index.js';
import { WalletModule } from '../../wallet/index.js';

/** The part of the application that commands need: no web server, no calls. */
@Module({
  imports: [
    ConfigModule,
    DatabaseModule,
    AuditModule,
    AuthModule,
    WalletModule,
    KeysModule,
    UsageModule,
    OnboardingModule,
    CatalogModule,
    ChannelsModule,
    // The catalog validates channels against the known protocols.
    ApiModule,
  ],
})
export class CliModule {}
