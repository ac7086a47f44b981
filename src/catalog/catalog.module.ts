import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AuditModule } from '../platform/audit/index.js';
import { CatalogAudit } from './catalog.audit.js';
import { CatalogEditor } from './catalog.editor.js';
import { CatalogReader } from './catalog.reader.js';
import { CatalogRepository } from './catalog.repository.js';
import { CatalogService } from './catalog.service.js';
import { GroupEntity } from './group.entity.js';
import { ModelEntity } from './model.entity.js';
import { Offer } from './offer.js';
import { PriceEditor } from './price-editor.js';
import { PriceHistory } from './price-history.js';
import { PriceVersionEntity } from './price-version.entity.js';
import { DefaultLimitsEntity } from './default-limits.entity.js';

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
