import { Module } from '@nestjs/common';
import { CatalogModule } from '../../catalog/index.js';
import { KeysModule } from '../../keys/index.js';
import { WalletModule } from '../../wallet/index.js';
import { AccessModule } from '../access/index.js';
import { UsagePagesModule } from '../usage/index.js';
import { KeyChoices } from './key-choices.js';
import { KeyCreatedPages } from './key-created.pages.js';
import { KeyDeletePages } from './key-delete.pages.js';
import { KeyFormPages } from './key-form.pages.js';
import { KeyListPages } from './key-list.pages.js';
import { KeyUsePages } from './key-use.pages.js';
import { KeyController } from './key.controller.js';
import { KeysController } from './keys.controller.js';
import { LeakedKeyPages } from './leaked-key.pages.js';

@Module({
  imports: [AccessModule, CatalogModule, KeysModule, UsagePagesModule, WalletModule],
  controllers: [KeysController, KeyController],
  providers: [KeyChoices, KeyCreatedPages, KeyDeletePages, KeyFormPages, KeyListPages, KeyUsePages, LeakedKeyPages],
  exports: [KeyUsePages],
})
export class KeyPagesModule {}
