import { Module } from '@nestjs/common';
import { RelayModule } from '../../relay/index.js';
import { ChatCompletionsController } from './chat-completions.controller.js';
import { ChatCompletionsProtocol } from './chat-completions.protocol.js';
import { ChatCompletionsUpstream } from './chat-completions.upstream.js';

@Module({
  imports: [RelayModule],
  controllers: [ChatCompletionsController],
  providers: [ChatCompletionsProtocol, ChatCompletionsUpstream],
})
export class ChatCompletionsModule {}
