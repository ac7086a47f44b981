import { Module } from '@nestjs/common';
import { ChatCompletionsProtocol } from './protocol.js';
import { ChatCompletionsUpstream } from './upstream.js';

@Module({
  providers: [ChatCompletionsProtocol, ChatCompletionsUpstream],
})
export class ChatCompletionsModule {}
