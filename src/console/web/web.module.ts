import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { SettingsModule } from '../../platform/settings/index.js';
import { VisitCookies } from './current-visit.js';
import { ErrorPages } from './error-pages.js';
import { FormOrigin, FormPostEntity, IdempotentForms } from './form-posts.js';
import { PageLayouts, LayoutParts } from './page-layouts.js';
import { PageInterceptor, PageWriter } from './page-writer.js';
import { AssetsController, AssetStore } from './rendering/asset-store.js';
import { ViewEngine } from './rendering/view-engine.js';
import { SealedSecrets } from './sealed-secrets.js';
import { Cursors, Signatures } from './signatures.js';

const EXPORTED = [
  AssetStore,
  Cursors,
  ErrorPages,
  FormOrigin,
  IdempotentForms,
  PageInterceptor,
  PageWriter,
  LayoutParts,
  SealedSecrets,
  ViewEngine,
  VisitCookies,
];

@Module({
  imports: [TypeOrmModule.forFeature([FormPostEntity]), SettingsModule],
  controllers: [AssetsController],
  providers: [Signatures, PageLayouts, ...EXPORTED],
  exports: EXPORTED,
})
export class WebModule {}
