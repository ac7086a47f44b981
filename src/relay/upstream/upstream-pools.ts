import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { buildConnector, type Dispatcher, Pool } from 'undici';
import { Config } from '../../platform/config/index.js';
import { Metrics } from '../../platform/metrics/index.js';
import { boundedDecompression } from './bounded-decompression.js';
import { ForbiddenAddress, isForbidden, lookupAllowed } from '../../catalog/channels/index.js';
import { goesDirectly, tunnelThrough } from './outgoing-proxy.js';

/** Connections to upstreams, one pool for each origin and time limit of connecting: directly, or through the proxy. */
@Injectable()
export class UpstreamPools implements OnApplicationShutdown {
  private readonly pools = new Map<string, Dispatcher>();
  /** The same without what is wrapped around them. */
  private readonly bare: Pool[] = [];
  private readonly proxy: URL | undefined;

  constructor(
    private readonly config: Config,
    metrics: Metrics,
  ) {
    const open = 'Connections to upstreams.';
    metrics.gauge('upstream_connections', open, [], (gauge) => gauge.set(this.sum(({ connected }) => connected)));
    const waiting = 'Upstream requests waiting for a connection.';
    metrics.gauge('upstream_waiting', waiting, [], (gauge) => gauge.set(this.sum(({ queued }) => queued)));
    const address = config.httpsProxy?.reveal();
    this.proxy = address === undefined ? undefined : new URL(address);
  }

  /** @param connectMs how long a connection may take to come about */
  poolFor(origin: string, connectMs: number): Dispatcher {
    const name = `${origin} ${connectMs}`;
    const known = this.pools.get(name);
    if (known !== undefined) return known;
    const bare = new Pool(origin, {
      // Leaving must close one socket and touch no other call, hence no shared HTTP/2 connection.
      allowH2: false,
      pipelining: 1,
      connect: this.connectorFor(new URL(origin), connectMs),
      keepAliveTimeout: 30_000,
    });
    const pool = bare.compose(boundedDecompression);
    this.pools.set(name, pool);
    this.bare.push(bare);
    return pool;
  }

  async onApplicationShutdown(): Promise<void> {
    await Promise.all([...this.pools.values()].map((pool) => pool.destroy()));
    this.pools.clear();
  }

  private sum(of: (stats: Pool['stats']) => number): number {
    return this.bare.reduce((sum, { stats }) => sum + of(stats), 0);
  }

  /** What is stored may be older than the rule, so that an address is looked at here too. Names are the proxy's business. */
  private connectorFor(destination: URL, timeoutMs: number): buildConnector.connector {
    if (isForbidden(destination.hostname))
      return (_, callback) => callback(new ForbiddenAddress(destination.hostname), null);
    const isProxied = destination.protocol === 'https:' && !goesDirectly(destination, this.config.noProxy);
    return this.proxy !== undefined && isProxied
      ? tunnelThrough(this.proxy, timeoutMs)
      : buildConnector({ timeout: timeoutMs, allowH2: false, lookup: lookupAllowed });
  }
}
