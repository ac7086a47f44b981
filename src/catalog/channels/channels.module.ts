import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { CatalogModule, Offer } from '../index.js';
import { MetricsModule } from '../../platform/metrics/index.js';
import { CatalogExport } from './catalog-file/catalog-export.service.js';
import { CatalogDesk } from './catalog-file/catalog-desk.js';
import { ChannelDesk } from './catalog-file/channel-desk.js';
import { CatalogInventory } from './catalog-file/catalog-inventory.js';
import { CatalogImport } from './catalog-file/catalog-import.service.js';
import { ChannelDrafts } from './catalog-file/channel-drafts.js';
import { ChannelDirectory } from './channel.directory.js';
import { ChannelEditor } from './channel.editor.js';
import { ChannelEntity } from './channel.entity.js';
import { ChannelRepository } from './channel.repository.js';
import { CostVersionEntity } from './costs/cost-version.entity.js';
import { CredentialReader } from './credential-reader.js';
import { CredentialStore } from './credential-store.js';
import { CredentialVault } from './credential-vault.js';
import { ChannelGauge } from '../../relay/routing/health/channel-gauge.js';
import { ChannelHealth } from '../../relay/routing/health/channel-health.js';
import { CheckCalls } from '../../relay/routing/health/check-calls.js';
import { HealthLimits } from '../../relay/routing/health/health-limits.js';
import { RestRepository } from '../../relay/routing/health/rest.repository.js';
import { SharedRests } from '../../relay/routing/health/shared-rests.js';
import { Random } from './random.js';
import { ChannelLoad } from '../../relay/routing/selection/channel-load.js';
import { ChannelSelection } from '../../relay/routing/selection/channel-selection.js';
import { UpstreamClient } from './upstream-client.js';
import { UpstreamPools } from './upstream-pools.js';

@Module({
  imports: [CatalogModule, MetricsModule, TypeOrmModule.forFeature([ChannelEntity, CostVersionEntity])],
  providers: [
    ChannelRepository,
    CredentialVault,
    CredentialReader,
    CredentialStore,
    Random,
    ChannelDirectory,
    HealthLimits,
    RestRepository,
    SharedRests,
    CheckCalls,
    ChannelHealth,
    ChannelGauge,
    ChannelLoad,
    ChannelSelection,
    ChannelEditor,
    CatalogImport,
    CatalogDesk,
    CatalogInventory,
    ChannelDesk,
    ChannelDrafts,
    CatalogExport,
    UpstreamPools,
    UpstreamClient,
  ],
  exports: [
    ChannelDirectory,
    ChannelHealth,
    CheckCalls,
    ChannelSelection,
    Random,
    UpstreamClient,
    CatalogImport,
    CatalogDesk,
    CatalogInventory,
    ChannelDesk,
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
