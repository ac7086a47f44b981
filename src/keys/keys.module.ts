import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AuthModule } from '../auth/index.js';
import { CatalogModule } from '../catalog/index.js';
import { MetricsModule } from '../platform/metrics/index.js';
import { UsageModule } from '../usage/index.js';
import { WalletModule } from '../wallet/index.js';
import { ApiKeyEntity } from './api-key.entity.js';
import { ApiKeyGuard, BearerStrategy, KeyAuthenticator } from './api-key.guard.js';
import { ApiKeyRepository } from './api-key.repository.js';
import { ApiKeyService } from './api-key.service.js';
import { InvalidKeyLimits, InvalidKeyThrottle } from './invalid-key-throttle.js';
import { BudgetStore } from './budget-store.js';
import { KeyChanges } from './key-changes.js';
import { KeyHolders } from './key-holders.js';
import { CallerRepository, KeyDirectory } from './key-directory.js';
import { MemberKeys, Memberships } from './member-keys.js';
import { OwnKeysRepository } from './own-keys.repository.js';
import { OwnKeys } from './own-keys.service.js';
import { IssuerKeys, IssuerKeyTimings } from './token-issuers/issuer-keys.js';
import { TokenDirectory } from './token-issuers/token-directory.js';
import { TokenIssuers } from './token-issuers/token-issuers.service.js';
import { TokenKeys } from './token-issuers/token-keys.js';
import { TokenVerifier } from './token-issuers/token-verifier.js';
import { KeyNetworks } from './watch/key-networks.repository.js';
import { KeyNotices } from './watch/key-notices.js';
import { KeyWatch, KeyWatchTimings, NetworkWatch, VolumeWatch } from './watch/key-watch.js';

@Module({
  imports: [
    TypeOrmModule.forFeature([ApiKeyEntity]),
    AuthModule,
    UsageModule,
    CatalogModule,
    WalletModule,
    MetricsModule,
  ],
  providers: [
    ApiKeyRepository,
    BudgetStore,
    KeyChanges,
    MemberKeys,
    Memberships,
    OwnKeysRepository,
    OwnKeys,
    KeyHolders,
    CallerRepository,
    ApiKeyService,
    KeyDirectory,
    TokenIssuers,
    IssuerKeys,
    IssuerKeyTimings,
    TokenVerifier,
    TokenKeys,
    TokenDirectory,
    KeyAuthenticator,
    BearerStrategy,
    ApiKeyGuard,
    InvalidKeyLimits,
    InvalidKeyThrottle,
    KeyNetworks,
    KeyNotices,
    KeyWatch,
    KeyWatchTimings,
    NetworkWatch,
    VolumeWatch,
  ],
  exports: [
    BudgetStore,
    MemberKeys,
    Memberships,
    KeyNotices,
    KeyWatch,
    ApiKeyService,
    OwnKeys,
    KeyHolders,
    ApiKeyGuard,
    KeyAuthenticator,
    KeyDirectory,
    TokenIssuers,
    InvalidKeyThrottle,
  ],
})
export class KeysModule {}
