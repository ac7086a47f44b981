import { Module } from '@nestjs/common';
import { MessagesProtocol } from './messages.protocol.js';
import { MessagesUpstream } from './messages.upstream.js';

@Module({
  providers: [MessagesProtocol, MessagesUpstream],
})
export class MessagesModule {}
