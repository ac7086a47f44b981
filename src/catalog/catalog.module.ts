import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AuditModule } from '../platform/audit/index.js';
import { CatalogEditor } from './catalog.editor.js';
import { DefaultLimitsEntity, GroupEntity, ModelEntity, PriceVersionEntity } from './catalog.entities.js';
import { CatalogReader, CatalogRepository } from './catalog.repository.js';
import { CatalogService, Offer } from './catalog.service.js';
import { CatalogAudit } from './changes.js';
import { PriceEditor, PriceHistory } from './price-editor.js';

@Module({
  imports: [AuditModule, TypeOrmModule.forFeature([GroupEntity, ModelEntity, PriceVersionEntity, DefaultLimitsEntity])],
  providers: [
    CatalogRepository,
    CatalogReader,
    CatalogService,
    CatalogAudit,
    CatalogEditor,
    PriceEditor,
    PriceHistory,
    Offer,
  ],
  exports: [CatalogService, CatalogEditor, PriceHistory, Offer],
})
export class CatalogModule {}
