import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { buildConnector, type Dispatcher, errors, interceptors, Pool } from 'undici';
import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { BlockList, isIP, type Socket } from 'node:net';
import { ForbiddenAddress, isForbidden, lookupAllowed } from '../../catalog/channels/index.js';
import { Config } from '../../platform/config/index.js';
import { Metrics } from '../../platform/metrics/index.js';
import { AppError, ExpansionLimit } from '../../platform/shared/index.js';

/** Connection pools by origin and connect timeout, direct or through the proxy. */
@Injectable()
export class UpstreamPools implements OnApplicationShutdown {
  private readonly pools = new Map<string, Dispatcher>();
  /** The pools without interceptors. */
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

  /** @param connectMs connect timeout */
  poolFor(origin: string, connectMs: number): Dispatcher {
    const name = `${origin} ${connectMs}`;
    const known = this.pools.get(name);
    if (known !== undefined) return known;
    const bare = new Pool(origin, {
      // Aborting must close one socket without affecting other calls, hence no shared HTTP/2 connection.
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

  /** Checks IP addresses again, since stored channels may predate the rule. Names are resolved by the proxy. */
  connectorFor(destination: URL, timeoutMs: number): buildConnector.connector {
    if (isForbidden(destination.hostname))
      return (_, callback) => callback(new ForbiddenAddress(destination.hostname), null);
    const isProxied = destination.protocol === 'https:' && !bypassesProxy(destination, this.config.noProxy);
    return this.proxy !== undefined && isProxied
      ? tunnelThrough(this.proxy, timeoutMs)
      : buildConnector({ timeout: timeoutMs, allowH2: false, lookup: lookupAllowed });
  }

  async onApplicationShutdown(): Promise<void> {
    await Promise.all([...this.pools.values()].map((pool) => pool.destroy()));
    this.pools.clear();
  }

  private sum(of: (stats: Pool['stats']) => number): number {
    return this.bare.reduce((sum, { stats }) => sum + of(stats), 0);
  }
}

/** Target of a connection. */
type Destination = Pick<URL, 'hostname' | 'port'>;

const HTTPS_PORT = 443;
const WITH_PORT = /^(\[.+\]|[^:]+):(\d+)$/;

/**
 * Whether an `https://` destination bypasses the proxy. Names include their subdomains; `*.name` means subdomains only.
 * The local host always does.
 * @param noProxy entries in lower case
 */
export function bypassesProxy({ hostname, port }: Destination, noProxy: readonly string[]): boolean {
  const host = plain(hostname);
  const ownPort = port === '' ? HTTPS_PORT : Number(port);
  return isLoopback(host) || noProxy.some((entry) => matches(entry, host, ownPort));
}

function matches(entry: string, host: string, port: number): boolean {
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

/** Removes the brackets of IPv6 addresses and the trailing dot of names. */
const plain = (hostname: string): string => hostname.replace(/^\[(.*)\]$/, '$1').replace(/(.)\.$/, '$1');

/**
 * Connects through a proxy with CONNECT; TLS is end-to-end.
 * @param timeoutMs for each of both steps
 */
function tunnelThrough(proxy: URL, timeoutMs: number): buildConnector.connector {
  const connectTls = buildConnector({ timeout: timeoutMs, allowH2: false });
  return (options, callback) => {
    openTunnel(proxy, options, timeoutMs, (error, httpSocket) => {
      if (error === null) connectTls({ ...options, httpSocket }, callback);
      else callback(error, null);
    });
  };
}

function openTunnel(proxy: URL, to: Destination, timeoutMs: number, done: buildConnector.Callback): void {
  const authority = `${isIP(to.hostname) === 6 ? `[${to.hostname}]` : to.hostname}:${to.port || HTTPS_PORT}`;
  const start = proxy.protocol === 'https:' ? httpsRequest : httpRequest;
  const connecting = start({
    hostname: plain(proxy.hostname),
    port: proxy.port,
    method: 'CONNECT',
    path: authority,
    headers: { host: authority, ...authorizationFor(proxy) },
    agent: false,
  });
  const late = setTimeout(() => connecting.destroy(new errors.ConnectTimeoutError('The proxy timed out.')), timeoutMs);
  connecting
    // Emitted for every response to CONNECT, whatever its status.
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

// Includes error statuses: their bodies are read and classified.
const decompress = interceptors.decompress({ skipStatusCodes: [], skipErrorResponses: false });

/** Decompresses upstream responses, and fails those that expand too far with `upstream_error`. */
const boundedDecompression: Dispatcher.DispatcherComposeInterceptor = (dispatch) => (options, handler) =>
  dispatch(options, new DecodedResponse(options, handler));

/**
 * Passes events on to a handler, through a decompressor if the response has an encoding. Requests ask for none, so that
 * most responses need nothing of it. It is also the controller that the handler gets: pausing must stop whichever of
 * connection and decompressor supplies the data.
 */
class DecodedResponse implements Dispatcher.DispatchHandler, Dispatcher.DispatchController {
  private controller: Dispatcher.DispatchController | undefined;
  private receiver: Dispatcher.DispatchHandler;

  constructor(
    private readonly options: Dispatcher.DispatchOptions,
    private readonly handler: Dispatcher.DispatchHandler,
  ) {
    this.receiver = handler;
  }

  onRequestStart(controller: Dispatcher.DispatchController, context: unknown): void {
    this.controller = controller;
    this.handler.onRequestStart?.(this, context);
  }

  onBodySent(chunk: Buffer): void {
    this.handler.onBodySent?.(chunk);
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
    message?: string,
  ): void {
    if (status >= 200 && headers['content-encoding'] !== undefined) this.decompress(controller);
    this.receiver.onResponseStart?.(controller, status, headers, message);
  }

  onResponseData(controller: Dispatcher.DispatchController, bytes: Buffer): void {
    this.receiver.onResponseData?.(controller, bytes);
  }

  onResponseEnd(controller: Dispatcher.DispatchController, trailers: Record<string, string | string[]>): void {
    this.receiver.onResponseEnd?.(controller, trailers);
  }

  onResponseError(controller: Dispatcher.DispatchController, error: Error): void {
    this.receiver.onResponseError?.(controller, error);
  }

  get aborted(): boolean {
    return this.controller?.aborted ?? false;
  }

  get paused(): boolean {
    return this.controller?.paused ?? false;
  }

  get reason(): Error | null {
    return this.controller?.reason ?? null;
  }

  abort(reason: Error): void {
    this.controller?.abort(reason);
  }

  pause(): void {
    this.controller?.pause();
  }

  resume(): void {
    this.controller?.resume();
  }

  private decompress(connection: Dispatcher.DispatchController): void {
    const limit = new ExpansionLimit();
    const output = new DecompressedBytes(this.handler, limit, (decompressor) => {
      if (connection.paused) decompressor.pause();
      this.controller = decompressor;
    });
    const attach: Dispatcher.Dispatch = (_, decompressor) => {
      this.receiver = new CompressedBytes(decompressor, limit);
      return true;
    };
    decompress(attach)(this.options, output);
    this.receiver.onRequestStart?.(connection, undefined);
  }
}

/** Delegates to a handler, which may be a class with methods on its prototype. */
class PassingHandler implements Dispatcher.DispatchHandler {
  constructor(
    protected readonly handler: Dispatcher.DispatchHandler,
    protected readonly limit: ExpansionLimit,
  ) {}

  onRequestStart(...args: Parameters<NonNullable<Dispatcher.DispatchHandler['onRequestStart']>>): void {
    this.handler.onRequestStart?.(...args);
  }

  onResponseStart(...args: Parameters<NonNullable<Dispatcher.DispatchHandler['onResponseStart']>>): void {
    this.handler.onResponseStart?.(...args);
  }

  onResponseData(controller: Dispatcher.DispatchController, bytes: Buffer): void {
    this.handler.onResponseData?.(controller, bytes);
  }

  onResponseEnd(...args: Parameters<NonNullable<Dispatcher.DispatchHandler['onResponseEnd']>>): void {
    this.handler.onResponseEnd?.(...args);
  }

  onResponseError(...args: Parameters<NonNullable<Dispatcher.DispatchHandler['onResponseError']>>): void {
    this.handler.onResponseError?.(...args);
  }
}

/** Counts compressed bytes. */
class CompressedBytes extends PassingHandler {
  override onResponseData(controller: Dispatcher.DispatchController, bytes: Buffer): void {
    this.limit.compressed(bytes);
    super.onResponseData(controller, bytes);
  }
}

/** Compares decompressed bytes with them. */
class DecompressedBytes extends PassingHandler {
  private count = 0;
  private isOver = false;

  /** @param onController called with the decompressor's controller; the handler has had its start */
  constructor(
    handler: Dispatcher.DispatchHandler,
    limit: ExpansionLimit,
    private readonly onController: (controller: Dispatcher.DispatchController) => void,
  ) {
    super(handler, limit);
  }

  override onRequestStart(controller: Dispatcher.DispatchController): void {
    this.onController(controller);
  }

  override onResponseData(controller: Dispatcher.DispatchController, bytes: Buffer): void {
    if (this.isOver) return;
    this.count += bytes.length;
    if (!this.limit.isExceededBy(this.count)) return super.onResponseData(controller, bytes);
    this.isOver = true;
    controller.abort(new AppError('upstream_error', 'The upstream response decompresses to too many bytes.'));
  }
}
