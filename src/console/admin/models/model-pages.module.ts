import { Module } from '@nestjs/common';
import { AccessModule } from '../../access/index.js';
import { CatalogModule } from '../../../catalog/index.js';
import { ChannelsModule } from '../../../catalog/channels/index.js';
import { RelayModule } from '../../../relay/index.js';
import { UsageModule } from '../../../usage/index.js';
import { ModelComparePages } from './model-compare.pages.js';
import { ModelFormPages } from './model-form.pages.js';
import { ModelListPages } from './model-list.pages.js';
import { ModelMargins } from './model-margins.js';
import { ModelPage } from './model.page.js';
import { ModelsController } from './models.controller.js';

@Module({
  imports: [AccessModule, CatalogModule, ChannelsModule, RelayModule, UsageModule],
  controllers: [ModelsController],
  providers: [ModelComparePages, ModelFormPages, ModelListPages, ModelMargins, ModelPage],
})
export class ModelPagesModule {}
