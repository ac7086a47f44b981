import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { CatalogModule, Offer } from '../index.js';
import { MetricsModule } from '../../platform/metrics/index.js';
import { CatalogExport } from './catalog-file/catalog-export.service.js';
import { CatalogChanges } from './catalog-file/catalog-changes.js';
import { ChannelChanges, ChannelDrafts } from './catalog-file/channel-changes.js';
import { CatalogInventory } from './catalog-file/catalog-inventory.js';
import { CatalogImport } from './catalog-file/catalog-import.service.js';
import { ChannelDirectory } from './channel.directory.js';
import { ChannelEditor } from './channel.editor.js';
import { ChannelEntity, CostVersionEntity } from './channel.entity.js';
import { ChannelRepository } from './channel.repository.js';
import { CredentialReader, CredentialStore, CredentialVault } from './credential-store.js';

@Module({
  imports: [CatalogModule, MetricsModule, TypeOrmModule.forFeature([ChannelEntity, CostVersionEntity])],
  providers: [
    ChannelRepository,
    CredentialVault,
    CredentialReader,
    CredentialStore,
    ChannelDirectory,
    ChannelEditor,
    CatalogImport,
    CatalogChanges,
    CatalogInventory,
    ChannelChanges,
    ChannelDrafts,
    CatalogExport,
  ],
  exports: [
    ChannelDirectory,
    CatalogImport,
    CatalogChanges,
    CatalogInventory,
    ChannelChanges,
    ChannelDrafts,
    CatalogExport,
  ],
})
export class ChannelsModule {
  constructor(offer: Offer, directory: ChannelDirectory) {
    offer.servedBy((group, model) => ({
      protocols: directory.protocolsFor(group, model),
      translates: directory.translatesFor(group, model),
    }));
  }
}
