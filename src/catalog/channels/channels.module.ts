import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { MetricsModule } from '../../platform/metrics/index.js';
import { CatalogModule, Offer } from '../index.js';
import { CatalogExport, CatalogInventory } from './catalog-file/catalog-export.service.js';
import { CatalogChanges, CatalogImport } from './catalog-file/catalog-import.service.js';
import { ChannelChanges, ChannelDrafts } from './catalog-file/channel-changes.js';
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
