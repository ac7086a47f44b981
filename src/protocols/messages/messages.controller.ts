import { Controller, Post, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { CallRoute, RelayService } from '../../relay/index.js';
import { MESSAGES_PATH, MessagesProtocol } from './messages.protocol.js';

@Controller()
@CallRoute()
export class MessagesController {
  constructor(
    private readonly relay: RelayService,
    private readonly protocol: MessagesProtocol,
  ) {}

  @Post(MESSAGES_PATH)
  create(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    return this.relay.answer(this.protocol, request, reply);
  }
}
