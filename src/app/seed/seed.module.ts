import { Module } from '@nestjs/common';
import { AuditModule } from '../../platform/audit/index.js';
import { AuthModule } from '../../auth/index.js';
import { BillingModule } from '../../relay/billing/index.js';
import { CatalogModule } from '../../catalog/index.js';
import { ChannelsModule } from '../../catalog/channels/index.js';
import { ConfigModule } from '../../platform/config/index.js';
import { DatabaseModule } from '../../platform/database/index.js';
import { KeysModule } from '../../keys/index.js';
import { OnboardingModule } from '../../keys/onboarding/index.js';
import { ApiModule } from '../../relay/index.js';
import { WalletModule } from '../../wallet/index.js';
import { CallPlayer } from './call-player.js';
import { SeedAccounts } from './seed.accounts.js';
import { SeedCalls } from './seed.calls.js';
import { SeedCatalog } from './seed.catalog.js';
import { Seed } from './seed.service.js';

/** What seeding needs of the application: no web server, and no demo model, so that the seed's calls are not its. */
@Module({
  imports: [
    ConfigModule,
    DatabaseModule,
    AuditModule,
    AuthModule,
    WalletModule,
    KeysModule,
    OnboardingModule,
    CatalogModule,
    ChannelsModule,
    BillingModule,
    ApiModule,
  ],
  providers: [Seed, SeedAccounts, SeedCatalog, SeedCalls, CallPlayer],
})
export class SeedModule {}
