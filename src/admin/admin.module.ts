import { Module } from '@nestjs/common';
import { AuthModule } from '../auth/index.js';
import { CatalogModule } from '../catalog/index.js';
import { KeysModule } from '../keys/index.js';
import { ChannelsModule } from '../channels/index.js';
import { RelayModule } from '../relay/index.js';
import { UsageModule } from '../usage/index.js';
import { CallsController } from './calls/calls.controller.js';
import { CallsCsv } from './calls/calls-csv.js';
import { CallsPages } from './calls/calls.pages.js';
import { RoutingController } from './routing/routing.controller.js';
import { RoutingPages } from './routing/routing.pages.js';

@Module({
  imports: [AuthModule, CatalogModule, KeysModule, RelayModule, UsageModule],
  controllers: [CallsController, RoutingController],
  providers: [CallsCsv, CallsPages, RoutingPages],
import { CHANNEL_CONTROLLERS, CHANNEL_PROVIDERS } from './channels/index.js';

@Module({
  imports: [AuthModule, CatalogModule, ChannelsModule, RelayModule, UsageModule],
  controllers: [CallsController, ...CHANNEL_CONTROLLERS],
  providers: [CallsCsv, CallsPages, ...CHANNEL_PROVIDERS],
})
export class AdminModule {}
