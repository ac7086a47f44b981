import { Controller, Post, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { CallRoute, RelayService } from '../../relay/index.js';
import { CHAT_COMPLETIONS_PATH, ChatCompletionsProtocol } from './chat-completions.protocol.js';

@Controller()
@CallRoute()
export class ChatCompletionsController {
  constructor(
    private readonly relay: RelayService,
    private readonly protocol: ChatCompletionsProtocol,
  ) {}

  @Post(CHAT_COMPLETIONS_PATH)
  create(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    return this.relay.answer(this.protocol, request, reply);
  }
}
