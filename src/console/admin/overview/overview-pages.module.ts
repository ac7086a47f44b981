import { Module } from '@nestjs/common';
import { AccessModule } from '../../access/index.js';
import { CatalogModule } from '../../../catalog/index.js';
import { ChannelsModule } from '../../../catalog/channels/index.js';
import { LimitsModule } from '../../../platform/limits/index.js';
import { MailModule } from '../../../platform/mail/index.js';
import { UsageModule } from '../../../usage/index.js';
import { ChannelPagesModule } from '../channels/channel-pages.module.js';
import { ChannelsCard } from './channels-card.js';
import { OverviewController } from './overview.controller.js';
import { OverviewPages } from './overview.pages.js';
import { OverviewReader } from './overview-reader.js';
import { Troubles } from './troubles.js';

@Module({
  imports: [AccessModule, CatalogModule, ChannelPagesModule, ChannelsModule, LimitsModule, MailModule, UsageModule],
  controllers: [OverviewController],
  providers: [ChannelsCard, OverviewPages, OverviewReader, Troubles],
})
export class OverviewPagesModule {}
