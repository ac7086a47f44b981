import { Module } from '@nestjs/common';
import { ChatCompletionsProtocol } from './chat-completions.protocol.js';
import { ChatCompletionsUpstream } from './chat-completions.upstream.js';

@Module({
  providers: [ChatCompletionsProtocol, ChatCompletionsUpstream],
})
export class ChatCompletionsModule {}
