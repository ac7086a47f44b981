import { Module } from '@nestjs/common';
import { MessagesProtocol } from './protocol.js';
import { MessagesUpstream } from './upstream.js';

@Module({
  providers: [MessagesProtocol, MessagesUpstream],
})
export class MessagesModule {}
