import { Controller, Get, Injectable, Module, NotFoundException, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { collectDefaultMetrics } from 'prom-client';
import { createHash, timingSafeEqual } from 'node:crypto';
import { BlockList, isIP } from 'node:net';
import { Config } from '../../platform/config/index.js';
import { Metrics, MetricsModule } from '../../platform/metrics/index.js';
import type { Secret } from '../../platform/shared/index.js';
import { WorkersModule } from '../../platform/workers/index.js';
import { Scrape } from './scrape.js';

/** What is counted, for who runs the service: whoever shows METRICS_TOKEN, or asks from this machine itself. */
@Controller()
class MetricsController {
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

/** What a Node process is watched by everywhere: CPU, memory, garbage collection, the delay of its event loop. */
@Injectable()
export class ProcessMetrics {
  private readonly serving;

  constructor(private readonly metrics: Metrics) {
    this.serving = metrics.gauge('processes', 'Processes included in the other metrics.');
  }

  /** For a process that serves, once: what watches it is not taken off again. */
  watch(): void {
    this.serving.set(1);
    collectDefaultMetrics({ register: this.metrics.registry });
  }
}

@Module({
  imports: [MetricsModule, WorkersModule],
  controllers: [MetricsController],
  providers: [ProcessMetrics, Scrape],
})
export class MonitoringModule {}

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet('127.0.0.0', 8, 'ipv4');
LOOPBACK.addAddress('::1', 'ipv6');

/** What proxies say of whom they ask for. */
const FORWARDING =
  /^(?:forwarded|via|x-forwarded(?:-.*)?|x-original-.*|(?:x-)?(?:real|client|cluster-client|true-client)-ip|(?:cf|fastly|true)-.*-ip)$/;

type Asked = Pick<FastifyRequest, 'headers'> & {
  readonly raw: { readonly socket: { readonly remoteAddress?: string | undefined } };
};

/**
 * Whether a request was made on this machine, and not by a proxy on it for somebody elsewhere. The connection is looked
 * at: whom a trusted proxy asks for is not this.
 */
export function isLocal({ headers, raw }: Asked): boolean {
  const address = raw.socket.remoteAddress ?? '';
  const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
  return isIP(address) !== 0 && LOOPBACK.check(address, family) && !Object.keys(headers).some(isForwarding);
}

const isForwarding = (name: string): boolean => FORWARDING.test(name);

/** Digests are compared: in the same time however much of the token is right. */
export function showsToken({ headers }: Pick<FastifyRequest, 'headers'>, token: Secret): boolean {
  const shown = /^Bearer +(\S+)$/i.exec(headers.authorization ?? '')?.[1];
  return shown !== undefined && timingSafeEqual(digest(shown), digest(token.reveal()));
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
