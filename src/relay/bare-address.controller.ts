import { Controller, Post, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { CallRoute } from './call.guard.js';
import { ProtocolChoices } from './protocol-choices.js';
import { RelayService } from './relay.service.js';
import { requestLineOf } from './request-facts.js';

/** Calls that were posted to the base address itself; those whose headers say Messages never come here. */
@Controller()
@CallRoute()
export class BareAddressController {
  constructor(
    private readonly relay: RelayService,
    private readonly choices: ProtocolChoices,
  ) {}

  @Post('v1')
  create(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    return this.relay.answer(this.choices.byInput(requestLineOf(request)), request, reply);
  }
}
