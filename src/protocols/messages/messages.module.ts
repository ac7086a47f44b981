import { Module } from '@nestjs/common';
import { RelayModule } from '../../relay/index.js';
import { MessagesController } from './messages.controller.js';
import { MessagesCountController } from './messages.count.controller.js';
import { MessagesProtocol } from './messages.protocol.js';
import { MessagesUpstream } from './messages.upstream.js';

@Module({
  imports: [RelayModule],
  controllers: [MessagesController, MessagesCountController],
  providers: [MessagesProtocol, MessagesUpstream],
})
export class MessagesModule {}
