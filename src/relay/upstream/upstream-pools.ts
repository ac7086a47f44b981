import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { buildConnector, type Dispatcher, errors, interceptors, Pool } from 'undici';
import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { BlockList, isIP, type Socket } from 'node:net';
import { ForbiddenAddress, isForbidden, lookupAllowed } from '../../catalog/channels/index.js';
import { Config } from '../../platform/config/index.js';
import { Metrics } from '../../platform/metrics/index.js';
import { AppError, ExpansionLimit } from '../../platform/shared/index.js';

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

/** Where a connection leads. */
type Destination = Pick<URL, 'hostname' | 'port'>;

const HTTPS_PORT = 443;
const WITH_PORT = /^(\[.+\]|[^:]+):(\d+)$/;

/**
 * Whether a destination of https:// is reached without the proxy. Names are meant with all below them, with a dot or
 * without; `*.name` means those below alone. This machine is never asked of a proxy.
 * @param noProxy as the configuration has it: in lower case
 */
export function goesDirectly({ hostname, port }: Destination, noProxy: readonly string[]): boolean {
  const host = plain(hostname);
  const ownPort = port === '' ? HTTPS_PORT : Number(port);
  return isLoopback(host) || noProxy.some((entry) => isMeant(entry, host, ownPort));
}

function isMeant(entry: string, host: string, port: number): boolean {
  const [, named = entry, onPort] = WITH_PORT.exec(entry) ?? [];
  if (onPort !== undefined && Number(onPort) !== port) return false;
  if (named === '*') return true;
  const [network = '', bits] = plain(named).split('/');
  if (isIP(network) !== 0) return isIn(network, bits, host);
  const below = network.replace(/^\*?\./, '');
  return host.endsWith(`.${below}`) || (!network.startsWith('*') && host === below);
}

function isIn(network: string, bits: string | undefined, host: string): boolean {
  const [family, ofHost] = [isIP(network), isIP(host)];
  if (ofHost === 0) return false;
  const list = new BlockList();
  list.addSubnet(network, bits === undefined ? (family === 4 ? 32 : 128) : Number(bits), nameOf(family));
  return list.check(host, nameOf(ofHost));
}

const nameOf = (family: number): 'ipv4' | 'ipv6' => (family === 4 ? 'ipv4' : 'ipv6');
const isLoopback = (host: string): boolean => host === 'localhost' || isIn('127.0.0.0', '8', host) || host === '::1';

/** Without the brackets of an IPv6 address, and the dot that only says that a name is whole. */
const plain = (hostname: string): string => hostname.replace(/^\[(.*)\]$/, '$1').replace(/(.)\.$/, '$1');

/**
 * Connects to destinations of https:// through a proxy (CONNECT); TLS goes through it to the destination itself.
 * @param timeoutMs for each of the two
 */
function tunnelThrough(proxy: URL, timeoutMs: number): buildConnector.connector {
  const speakTls = buildConnector({ timeout: timeoutMs, allowH2: false });
  return (options, callback) => {
    openTunnel(proxy, options, timeoutMs, (error, httpSocket) => {
      if (error === null) speakTls({ ...options, httpSocket }, callback);
      else callback(error, null);
    });
  };
}

function openTunnel(proxy: URL, to: Destination, timeoutMs: number, done: buildConnector.Callback): void {
  const authority = `${isIP(to.hostname) === 6 ? `[${to.hostname}]` : to.hostname}:${to.port || HTTPS_PORT}`;
  const start = proxy.protocol === 'https:' ? httpsRequest : httpRequest;
  const asking = start({
    hostname: plain(proxy.hostname),
    port: proxy.port,
    method: 'CONNECT',
    path: authority,
    headers: { host: authority, ...authorizationFor(proxy) },
    agent: false,
  });
  const late = setTimeout(() => asking.destroy(new errors.ConnectTimeoutError('The proxy timed out.')), timeoutMs);
  asking
    // Any answer to CONNECT comes this way, whatever its status.
    .once('connect', ({ statusCode }, socket: Socket) => {
      clearTimeout(late);
      if (statusCode === 200) return done(null, socket);
      socket.destroy();
      done(new Error(`The proxy responded with status ${statusCode}.`), null);
    })
    .once('error', (error) => {
      clearTimeout(late);
      done(error, null);
    })
    .end();
}

function authorizationFor({ username, password }: URL): Readonly<Record<string, string>> {
  if (username === '' && password === '') return {};
  const credential = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return { 'proxy-authorization': `Basic ${Buffer.from(credential).toString('base64')}` };
}

// Also for statuses whose bodies are usually not decoded: errors are read and classified.
const decompress = interceptors.decompress({ skipStatusCodes: [], skipErrorResponses: false });

/** Decompresses responses of upstreams, and ends those that expand too far: they fail as `upstream_error`. */
const boundedDecompression: Dispatcher.DispatcherComposeInterceptor = (dispatch) => (options, handler) => {
  const limit = new ExpansionLimit();
  const measured: Dispatcher.Dispatch = (sent, received) => dispatch(sent, new CompressedBytes(received, limit));
  return decompress(measured)(options, new DecompressedBytes(handler, limit));
};

/** Passes everything on. The handler may be a class, so its methods are called on it. */
class PassingHandler implements Dispatcher.DispatchHandler {
  constructor(
    protected readonly handler: Dispatcher.DispatchHandler,
    protected readonly limit: ExpansionLimit,
  ) {}

  onRequestStart(...given: Parameters<NonNullable<Dispatcher.DispatchHandler['onRequestStart']>>): void {
    this.handler.onRequestStart?.(...given);
  }

  onRequestUpgrade(...given: Parameters<NonNullable<Dispatcher.DispatchHandler['onRequestUpgrade']>>): void {
    this.handler.onRequestUpgrade?.(...given);
  }

  onBodySent(...given: Parameters<NonNullable<Dispatcher.DispatchHandler['onBodySent']>>): void {
    this.handler.onBodySent?.(...given);
  }

  onResponseStart(...given: Parameters<NonNullable<Dispatcher.DispatchHandler['onResponseStart']>>): void {
    this.handler.onResponseStart?.(...given);
  }

  onResponseData(controller: Dispatcher.DispatchController, bytes: Buffer): void {
    this.handler.onResponseData?.(controller, bytes);
  }

  onResponseEnd(...given: Parameters<NonNullable<Dispatcher.DispatchHandler['onResponseEnd']>>): void {
    this.handler.onResponseEnd?.(...given);
  }

  onResponseError(...given: Parameters<NonNullable<Dispatcher.DispatchHandler['onResponseError']>>): void {
    this.handler.onResponseError?.(...given);
  }
}

/** Counts the bytes of the connection. */
class CompressedBytes extends PassingHandler {
  override onResponseData(controller: Dispatcher.DispatchController, bytes: Buffer): void {
    this.limit.compressed(bytes);
    super.onResponseData(controller, bytes);
  }
}

/** Holds the decompressed bytes against them. */
class DecompressedBytes extends PassingHandler {
  private count = 0;
  private isOver = false;

  override onResponseData(controller: Dispatcher.DispatchController, bytes: Buffer): void {
    if (this.isOver) return;
    this.count += bytes.length;
    if (!this.limit.isExceededBy(this.count)) return super.onResponseData(controller, bytes);
    this.isOver = true;
    controller.abort(new AppError('upstream_error', 'The upstream response decompresses to too many bytes.'));
  }
}
