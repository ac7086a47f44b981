import { Controller, Post, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { CallRoute, DialectChoices, RelayService, requestLineOf } from '../../relay/index.js';
import { CHAT_COMPLETIONS_PATH, ChatCompletionsProtocol } from './chat-completions.protocol.js';

@Controller()
@CallRoute()
export class ChatCompletionsController {
  constructor(
    private readonly relay: RelayService,
    private readonly choices: DialectChoices,
    private readonly protocol: ChatCompletionsProtocol,
  ) {}

  @Post(CHAT_COMPLETIONS_PATH)
  create(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    const choice = this.choices.unlessInput(this.protocol, requestLineOf(request));
    return this.relay.answer(choice, request, reply);
  }
}
