import { Controller, Get, NotFoundException, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Config } from '../../platform/config/index.js';
import { isLocal, showsToken } from './reader.js';
import { Scrape } from './scrape.js';

/** What is counted, for who runs the service: whoever shows METRICS_TOKEN, or asks from this machine itself. */
@Controller()
export class MetricsController {
  constructor(
    private readonly config: Config,
    private readonly scrape: Scrape,
  ) {}

  @Get('metrics')
  async read(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    const { metricsToken } = this.config;
    if (isLocal(request) || (metricsToken !== undefined && showsToken(request, metricsToken)))
      return void reply
        .header('cache-control', 'no-store')
        .type(this.scrape.contentType)
        .send(await this.scrape.text());
    // Nobody who has no token to show need know that there is anything here.
    if (metricsToken === undefined) throw new NotFoundException();
    void reply.status(401).header('www-authenticate', 'Bearer').type('text/plain; charset=utf-8');
    void reply.send('Missing or invalid METRICS_TOKEN. Send it as Authorization: Bearer.\n');
  }
}
