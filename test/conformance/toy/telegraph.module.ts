import { Controller, Module, Post, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { CallRoute, RelayModule, RelayService } from '../../../src/relay/index.js';
import { TELEGRAPH_PATH, TelegraphProtocol } from './telegraph.protocol.js';
import { TelegraphUpstream } from './telegraph.upstream.js';

@Controller()
@CallRoute()
export class TelegraphController {
  constructor(
    private readonly relay: RelayService,
    private readonly protocol: TelegraphProtocol,
  ) {}

  @Post(TELEGRAPH_PATH)
  create(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    return this.relay.answer(this.protocol, request, reply);
  }
}

@Module({
  imports: [RelayModule],
  controllers: [TelegraphController],
  providers: [TelegraphProtocol, TelegraphUpstream],
})
export class TelegraphModule {}
