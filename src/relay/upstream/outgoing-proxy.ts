import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { BlockList, isIP, type Socket } from 'node:net';
import { buildConnector, errors } from 'undici';

/** Where a connection leads. */
export type Destination = Pick<URL, 'hostname' | 'port'>;

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
export function tunnelThrough(proxy: URL, timeoutMs: number): buildConnector.connector {
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
