import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { CatalogModule } from '../catalog/index.js';
import { WalletModule } from '../wallet/index.js';
import { ApiKeyEntity } from './api-key.entity.js';
import { ApiKeyGuard } from './api-key.guard.js';
import { ApiKeyRepository } from './api-key.repository.js';
import { ApiKeyService } from './api-key.service.js';
import { BearerStrategy } from './bearer.strategy.js';
import { CallerRepository } from './caller.repository.js';
import { KeyAuthenticator } from './key-authenticator.js';
import { KeyBudgetsRepository } from './key-budgets.repository.js';
import { KeyChanges } from './key-changes.js';
import { KeyDirectory } from './key-directory.js';
import { OwnKeysRepository } from './own-keys.repository.js';
import { OwnKeys } from './own-keys.service.js';
import { StrangerLimits } from './stranger-limits.js';
import { StrangerLine } from './stranger-line.js';

@Module({
  imports: [TypeOrmModule.forFeature([ApiKeyEntity]), CatalogModule, WalletModule],
  providers: [
    ApiKeyRepository,
    KeyBudgetsRepository,
    KeyChanges,
    OwnKeysRepository,
    OwnKeys,
    CallerRepository,
    ApiKeyService,
    KeyDirectory,
    KeyAuthenticator,
    BearerStrategy,
    ApiKeyGuard,
    StrangerLimits,
    StrangerLine,
  ],
  exports: [ApiKeyService, OwnKeys, ApiKeyGuard, KeyAuthenticator, KeyDirectory, StrangerLine],
})
export class KeysModule {}
