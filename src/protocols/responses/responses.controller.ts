import { Controller, Post, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { CallRoute, RelayService } from '../../relay/index.js';
import { RESPONSES_PATH, ResponsesProtocol } from './responses.protocol.js';

@Controller()
@CallRoute()
export class ResponsesController {
  constructor(
    private readonly relay: RelayService,
    private readonly protocol: ResponsesProtocol,
  ) {}

  @Post(RESPONSES_PATH)
  create(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    return this.relay.answer(this.protocol, request, reply);
  }
}
