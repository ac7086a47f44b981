import type { FastifyRequest } from 'fastify';
import { AsyncLocalStorage } from 'node:async_hooks';
import type { IncomingHttpHeaders } from 'node:http';
import type { Caller } from '../keys/index.js';
import { addressOf, idTime, monotonicMs } from '../platform/shared/index.js';
import type { CallTrace, RequestLine } from '../protocols/contract/index.js';

/** What is known of a request from its arrival. */
interface Arrival {
  /** Unix ms, as in the request's ID. */
  readonly createdAt: number;
  /** Monotonic. */
  readonly startedMs: number;
  /** Client address, stored because a closed socket has none. */
  readonly ip: string;
  /** Undefined without tracing. */
  readonly trace: CallTrace | undefined;
}

/** Stores the ID only: pooled upstream connections keep their creation context alive. */
const requestIds = new AsyncLocalStorage<string>();

const arrivals = new WeakMap<FastifyRequest, Arrival>();

/** For the server's first hook. */
export function noteArrival(request: FastifyRequest, trace?: CallTrace): void {
  const createdAt = idTime(request.id);
  if (createdAt === undefined) throw new TypeError(`Invalid request id "${request.id}".`);
  arrivals.set(request, { createdAt, startedMs: monotonicMs(), ip: addressOf(request), trace });
}

/** Runs `work` in the context of a request, so that uncaught errors can be attributed to it. */
export function runForRequest(requestId: string, work: () => void): void {
  requestIds.run(requestId, work);
}

/** The current request; undefined if unknown. */
export function currentRequestId(): string | undefined {
  return requestIds.getStore();
}

export function arrivalOf(request: FastifyRequest): Arrival {
  const arrival = arrivals.get(request);
  if (arrival === undefined) throw new TypeError('A request bypassed the first hook.');
  return arrival;
}

export function requestLineOf(request: FastifyRequest): RequestLine {
  const { url, method, headers } = request;
  const queryAt = url.indexOf('?');
  return {
    method,
    path: queryAt < 0 ? url : url.slice(0, queryAt),
    query: queryAt < 0 ? '' : url.slice(queryAt + 1),
    headers,
  };
}

/** The authenticated caller. Requires the key guard. */
export function callerOf(request: FastifyRequest): Caller {
  const { user } = request as FastifyRequest & { user?: Caller };
  if (user === undefined) throw new TypeError('A route without the key guard read the caller.');
  return user;
}

/** Prefixes, possibly repeated, that clients add when their base URL differs from what they expect. */
const PREFIX = /^(?:\/(?:v1|chat\/completions|responses|messages))*(?=\/)/;
const ENDPOINT =
  /^\/(?:chat\/completions|responses(?:\/.+)?|messages(?:\/count_tokens)?|models(?:\/.+)?|key|generations\/.+)$/;
/** Origin of an absolute-form request target, as sent to proxies. */
const ORIGIN = /^https?:\/\/[^/?]*/i;
const BARE = /^(?:\/v1)*\/?$/;

/**
 * The canonical form of a URL: `/v1/messages` for `/messages`, `/v1/v1/messages`, `/v1/messages/v1/messages/` and the
 * like. Unknown paths and the query stay unchanged.
 */
export function canonicalPath(url: string, method: string, headers: IncomingHttpHeaders): string {
  // `OPTIONS *` addresses the server as a whole.
  const local = url === '*' ? '/' : url.replace(ORIGIN, '');
  const queryAt = local.indexOf('?');
  const path = decodable(queryAt < 0 ? local : local.slice(0, queryAt)) || '/';
  const query = queryAt < 0 ? '' : local.slice(queryAt);
  for (const suffix of suffixes(withoutSlashes(path))) if (ENDPOINT.test(suffix)) return `/v1${suffix}${query}`;
  // POST to the bare base URL: headers tell whether it is a Messages request.
  if (method === 'POST' && BARE.test(path)) return `${speaksMessages(headers) ? '/v1/messages' : '/v1'}${query}`;
  // A liveness check by a program; browsers get a page.
  if (path === '/' && (method === 'HEAD' || (method === 'GET' && !readsPages(headers)))) return `/health${query}`;
  return `${path}${query}`;
}

/** Removes trailing slashes. A loop, since a pattern takes quadratic time over long runs of slashes. */
function withoutSlashes(path: string): string {
  let end = path.length;
  while (end > 1 && path[end - 1] === '/') end -= 1;
  return path.slice(0, end);
}

/** Escapes lone percent signs, which the framework would reject with an error of its own. */
function decodable(path: string): string {
  try {
    decodeURI(path);
    return path;
  } catch {
    return path.replaceAll('%', '%25');
  }
}

/** The path without prefixes, longest first; an endpoint's own name can look like a prefix. */
function* suffixes(path: string): Iterable<string> {
  const longest = PREFIX.exec(path)?.[0] ?? '';
  for (let length = longest.length; length > 0; length = longest.lastIndexOf('/', length - 1)) yield path.slice(length);
  yield path;
}

const speaksMessages = (headers: IncomingHttpHeaders): boolean =>
  ['anthropic-version', 'vendor-version', 'x-api-key'].some((name) => headers[name] !== undefined);

const readsPages = ({ accept }: IncomingHttpHeaders): boolean => accept?.includes('text/html') ?? false;

export const isApiAddress = (url: string): boolean => /^\/v1(?:[/?]|$)/.test(url);

/** Whether a program requests the API, rather than a browser a page. */
export function isApiRequest(request: FastifyRequest): boolean {
  if (isApiAddress(request.url)) return true;
  return !['GET', 'HEAD'].includes(request.method) && !isForm(request);
}

/**
 * Whether the client requires a WebSocket. Other upgrade offers allow a normal response: `curl --http2` sends one with
 * every request.
 */
export const wantsWebSocket = ({ headers }: FastifyRequest): boolean =>
  headers.upgrade?.split(',').some((protocol) => protocol.trim().toLowerCase() === 'websocket') ?? false;

/** Browsers send Sec-Fetch-Mode only over TLS and on localhost, but always Accept. */
const isForm = ({ headers }: FastifyRequest): boolean =>
  headers['sec-fetch-mode'] === 'navigate' ||
  headers.accept?.includes('text/html') === true ||
  headers['content-type']?.startsWith('multipart/form-data') === true;
