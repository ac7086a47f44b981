import { Module } from '@nestjs/common';
import { AccessModule } from '../../access/index.js';
import { CatalogModule } from '../../../catalog/index.js';
import { ChannelsModule } from '../../../catalog/channels/index.js';
import { RelayModule } from '../../../relay/index.js';
import { UsageModule } from '../../../usage/index.js';
import { ChannelActions } from './channel-actions.js';
import { ChannelBackground } from './channel-background.js';
import { ChannelController } from './channel.controller.js';
import { ChannelDeletePages } from './channel-delete.pages.js';
import { ChannelFiguresReader } from './channel-figures.js';
import { ChannelFormPages } from './channel-form.pages.js';
import { ChannelListPages } from './channel-list.pages.js';
import { ChannelQuestions } from './channel-questions.js';
import { ChannelStates } from './channel-states.js';
import { ChannelView } from './channel-view.js';
import { ChannelsController } from './channels.controller.js';

/** Channel pages: state, editing by the rules of the catalog file, and upstream checks. */
@Module({
  imports: [AccessModule, CatalogModule, ChannelsModule, RelayModule, UsageModule],
  controllers: [ChannelsController, ChannelController],
  providers: [
    ChannelActions,
    ChannelBackground,
    ChannelDeletePages,
    ChannelFiguresReader,
    ChannelFormPages,
    ChannelListPages,
    ChannelQuestions,
    ChannelStates,
    ChannelView,
  ],
  exports: [ChannelFiguresReader, ChannelStates],
})
export class ChannelPagesModule {}
