import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { SettingsModule } from '../../platform/settings/index.js';
import { VisitCookies } from './current-visit.js';
import { ErrorPages } from './error-pages.js';
import { FormOrigin, FormPostEntity, OnceForms } from './form-posts.js';
import { Frames, ShellContent } from './frames.js';
import { PageInterceptor, PageWriter } from './page-writer.js';
import { AssetsController, AssetStore } from './rendering/asset-store.js';
import { ViewEngine } from './rendering/view-engine.js';
import { Cursors, Signatures } from './signatures.js';

@Module({
  controllers: [AssetsController],
  providers: [AssetStore, ViewEngine],
  exports: [AssetStore, ViewEngine],
})
class RenderingModule {}

const PROVIDED = [Cursors, ErrorPages, FormOrigin, OnceForms, PageInterceptor, PageWriter, ShellContent, VisitCookies];

@Module({
  imports: [TypeOrmModule.forFeature([FormPostEntity]), RenderingModule, SettingsModule],
  providers: [Signatures, Frames, ...PROVIDED],
  exports: [RenderingModule, ...PROVIDED],
})
export class WebModule {}
