import { Module } from '@nestjs/common';
import { AssetStore } from './asset-store.js';
import { AssetsController } from './assets.controller.js';
import { ViewEngine } from './view-engine.js';

@Module({
  controllers: [AssetsController],
  providers: [AssetStore, ViewEngine],
  exports: [AssetStore, ViewEngine],
})
export class RenderingModule {}
