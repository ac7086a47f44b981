import { Module } from '@nestjs/common';
import { CallPagesModule } from './calls/call-pages.module.js';
import { ChannelPagesModule } from './channels/channel-pages.module.js';
import { RoutingPagesModule } from './routing/routing-pages.module.js';

/** Each folder is a module of its own: they know nothing of each other but addresses. */
@Module({ imports: [CallPagesModule, ChannelPagesModule, RoutingPagesModule] })
export class AdminModule {}
