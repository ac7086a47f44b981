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

/** Prometheus metrics, for requests with METRICS_TOKEN or from this machine. */
@Controller()
class MetricsController {
  constructor(
    private readonly config: Config,
    private readonly scrape: Scrape,
  ) {}

  @Get('metrics')
  async read(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    const { metricsToken } = this.config;
    if (isLocal(request) || (metricsToken !== undefined && hasToken(request, metricsToken)))
      return void reply
        .header('cache-control', 'no-store')
        .type(this.scrape.contentType)
        .send(await this.scrape.text());
    // 404: the endpoint is not revealed.
    if (metricsToken === undefined) throw new NotFoundException();
    void reply.status(401).header('www-authenticate', 'Bearer').type('text/plain; charset=utf-8');
    void reply.send('Missing or invalid METRICS_TOKEN. Send it as Authorization: Bearer.\n');
  }
}

/** Default Node.js metrics: CPU, memory, garbage collection, event loop delay. */
@Injectable()
export class ProcessMetrics {
  private readonly serving;

  constructor(private readonly metrics: Metrics) {
    this.serving = metrics.gauge('processes', 'Processes included in the other metrics.');
  }

  /** Called once by serving processes. */
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

/** Headers set by proxies. */
const FORWARDING =
  /^(?:forwarded|via|x-forwarded(?:-.*)?|x-original-.*|(?:x-)?(?:real|client|cluster-client|true-client)-ip|(?:cf|fastly|true)-.*-ip)$/;

type ScrapeRequest = Pick<FastifyRequest, 'headers'> & {
  readonly raw: { readonly socket: { readonly remoteAddress?: string | undefined } };
};

/**
 * Whether a request was made on this machine, and not through a proxy on it. Checks the connection rather than
 * forwarded addresses.
 */
export function isLocal({ headers, raw }: ScrapeRequest): boolean {
  const address = raw.socket.remoteAddress ?? '';
  const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
  return isIP(address) !== 0 && LOOPBACK.check(address, family) && !Object.keys(headers).some(isForwarding);
}

const isForwarding = (name: string): boolean => FORWARDING.test(name);

/** Compares digests, in constant time. */
export function hasToken({ headers }: Pick<FastifyRequest, 'headers'>, token: Secret): boolean {
  const given = /^Bearer +(\S+)$/i.exec(headers.authorization ?? '')?.[1];
  return given !== undefined && timingSafeEqual(digest(given), digest(token.reveal()));
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
