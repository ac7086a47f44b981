import { Module } from '@nestjs/common';
import { CallPagesModule } from './calls/call-pages.module.js';
import { ChannelPagesModule } from './channels/channel-pages.module.js';
import { ModelPagesModule } from './models/model-pages.module.js';
import { RoutingPagesModule } from './routing/routing-pages.module.js';

/** Each folder is a module of its own: they know nothing of each other but addresses. */
@Module({ imports: [CallPagesModule, ChannelPagesModule, RoutingPagesModule] })
import { AuthModule } from '../auth/index.js';
import { CatalogModule } from '../catalog/index.js';
import { ChannelsModule } from '../channels/index.js';
import { KeysModule } from '../keys/index.js';
import { MailModule } from '../mail/index.js';
import { RelayModule } from '../relay/index.js';
import { SettingsModule } from '../settings/index.js';
import { UsageModule } from '../usage/index.js';
import { WebModule } from '../web/index.js';
import { CallsController } from './calls/calls.controller.js';
import { CallsCsv } from './calls/calls-csv.js';
import { CallsPages } from './calls/calls.pages.js';
import { CHANNEL_CONTROLLERS, CHANNEL_PROVIDERS } from './channels/index.js';
import { RoutingController } from './routing/routing.controller.js';
import { RoutingPages } from './routing/routing.pages.js';
import { SETTINGS_CONTROLLERS, SETTINGS_PROVIDERS } from './settings/index.js';

@Module({
  imports: [
    AuthModule,
    CatalogModule,
    ChannelsModule,
    KeysModule,
    MailModule,
    RelayModule,
    SettingsModule,
    UsageModule,
    WebModule,
  ],
  controllers: [CallsController, RoutingController, ...CHANNEL_CONTROLLERS, ...SETTINGS_CONTROLLERS],
  providers: [CallsCsv, CallsPages, RoutingPages, ...CHANNEL_PROVIDERS, ...SETTINGS_PROVIDERS],
})
@Module({ imports: [CallPagesModule, ChannelPagesModule, ModelPagesModule, RoutingPagesModule] })
export class AdminModule {}
