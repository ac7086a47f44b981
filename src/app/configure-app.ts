import { Logger } from '@nestjs/common';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import { readFormBodies } from '../console/web/index.js';
import { Config } from '../platform/config/index.js';
import { AppError, LogRateLimiter, maskKeys, networkOf, newId } from '../platform/shared/index.js';
import { renderOpenAiError } from '../protocols/contract/index.js';
import {
  runForRequest,
  arrivalOf,
  canonicalPath,
  isApiAddress,
  isApiRequest,
  isHandshake,
  noteArrival,
  RelayTimings,
  RunState,
  serveHandshakes,
  Tracing,
  withoutQueryKey,
} from '../relay/index.js';
import { ErrorFilter } from './error.filter.js';

const EXPOSED_HEADERS = [
  'request-id',
  'x-request-id',
  'retry-after',
  'retry-after-ms',
  'x-should-retry',
  'x-relay-warnings',
  'x-relay-output-limit',
  'x-relay-shared-with',
];
const LIMIT_HEADERS = ['limit', 'remaining', 'reset'].flatMap((what) => [
  `x-ratelimit-${what}-requests`,
  `x-ratelimit-${what}-tokens`,
  `anthropic-ratelimit-requests-${what}`,
  `anthropic-ratelimit-tokens-${what}`,
]);

/** CORS headers, sent for requests with an `Origin`. The API ignores cookies. */
const CROSS_ORIGIN = {
  'access-control-allow-origin': '*',
  'access-control-allow-methods': 'GET, POST, DELETE, OPTIONS',
  'access-control-allow-headers': '*, authorization',
  'access-control-expose-headers': [...EXPOSED_HEADERS, ...LIMIT_HEADERS].join(', '),
  'access-control-max-age': '86400',
} as const;

/** Type and subtype. Fastify rejects anything else with an error of its own. */
const MEDIA_TYPE = /^[\w!#$&^.+-]+\/[\w!#$&^.+-]+ *(?:;|$)/;

/** Errors of requests that cannot be parsed, by the parser's code. */
const BROKEN: Readonly<Record<string, readonly [status: number, message: string]>> = {
  HPE_HEADER_OVERFLOW: [431, 'The headers of this request are too large.'],
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'The request did not arrive in time.'],
};

/** Connection timeouts in milliseconds; bodies have their own (relay-timings.ts). */
export interface ConnectionTimes {
  /** Timeout for all headers of a request. */
  readonly headersMs: number;
  /** Interval of the timeout check. */
  readonly checkMs: number;
  /** Idle keep-alive timeout; longer than that of proxies in front, usually 60 s. */
  readonly idleMs: number;
}

const CONNECTION_TIMES: ConnectionTimes = { headersMs: 30_000, checkMs: 5_000, idleMs: 75_000 };

/** The HTTP server below Nest: request ids, path normalization, trusted proxies and timeouts. */
export function createAdapter(config: Config, times = CONNECTION_TIMES): FastifyAdapter {
  return new FastifyAdapter({
    genReqId: () => newId('req', Date.now()),
    rewriteUrl: ({ url, method, headers }: IncomingMessage) =>
      withoutQueryKey(canonicalPath(url ?? '/', method ?? 'GET', headers), headers),
    trustProxy: config.trustedProxies.length > 0 ? [...config.trustedProxies] : false,
    forceCloseConnections: 'idle',
    exposeHeadRoutes: false,
    // Some vendors' response IDs have hundreds of characters.
    routerOptions: { maxParamLength: 1024 },
    clientErrorHandler: refuseBroken,
    http: {
      headersTimeout: times.headersMs,
      connectionsCheckingInterval: times.checkMs,
      shouldUpgradeCallback: isHandshake,
    },
    // At the minimum speed, a body of 64 MiB takes two hours.
    requestTimeout: 0,
    keepAliveTimeout: times.idleMs,
  });
}

/** Fastify's hooks and Nest's global pieces: the same for the program and for its tests. */
export function configureApp(app: NestFastifyApplication): void {
  const server = app.getHttpAdapter().getInstance();
  const state = app.get(RunState);
  const tracing = app.get(Tracing);
  state.watch(server.server);
  serveHandshakes(server.server);
  // Only form bodies are read before the key is checked; handlers read other bodies from the socket.
  server.removeAllContentTypeParsers();
  server.addContentTypeParser('*', (_request, _payload, done) => done(null));
  const { lingerUnreadMs, formMs } = app.get(RelayTimings);
  readFormBodies(server, formMs);
  server.addHook('onRequest', (request, reply, done) => {
    state.track(request.raw.socket, reply.raw);
    const isApi = isApiRequest(request);
    void reply.header('x-content-type-options', 'nosniff');
    noteArrival(request, isApi && request.method === 'POST' ? tracing.begin(request.raw, reply.raw) : undefined);
    if (isApi) {
      void reply.header('x-request-id', request.id).header('request-id', request.id);
      if (request.headers.origin !== undefined) void reply.headers(CROSS_ORIGIN);
    }
    // API bodies are JSON whatever their type: `curl -d` declares a form.
    if (isApiAddress(request.url) || !MEDIA_TYPE.test(request.headers['content-type'] ?? ''))
      delete request.raw.headers['content-type'];
    // CORS preflight requests carry no key.
    if (request.method === 'OPTIONS') void reply.headers(CROSS_ORIGIN).status(204).send();
    else runForRequest(request.id, done);
  });
  logOtherRequests(server);
  respondBeforeBodies(server, { lingerUnreadMs, maxBytes: app.get(Config).maxBodyBytes });
  app.useGlobalFilters(app.get(ErrorFilter));
}

/** Whether a response is being written to the socket; Node keeps the message there. */
function isResponding(socket: Socket & { readonly _httpMessage?: ServerResponse | null }): boolean {
  return socket._httpMessage?.headersSent === true;
}

/** The path, and with it the protocol, is unknown, so the error has the shape that most clients read. */
function refuseBroken({ code }: Error & { readonly code?: string }, socket: Socket): void {
  if (code === 'ECONNRESET' || !socket.writable || isResponding(socket)) return void socket.destroy();
  const [status, message] = BROKEN[code ?? ''] ?? [400, 'This is not a valid HTTP request.'];
  const id = newId('req', Date.now());
  const body = JSON.stringify(renderOpenAiError(new AppError('invalid_request', message), id).body);
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'content-type: application/json; charset=utf-8',
    'x-content-type-options: nosniff',
    `content-length: ${Buffer.byteLength(body)}`,
    `x-request-id: ${id}`,
    `request-id: ${id}`,
    'x-should-retry: false',
    'connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy());
}

/** Max lines per network for requests with invalid keys. */
const LINES_A_MINUTE = 20;
/** Max lines for calls that are not served now: under overload each would take a tenth of the rejection. */
const UNAVAILABLE_LINES_A_MINUTE = 1000;

/** Also Messages' own status for overload. */
const UNAVAILABLE = new Set([503, 529]);

/** Logs API requests that are not calls; calls have their own log line. */
function logOtherRequests(server: FastifyInstance): void {
  const logger = new Logger('Request');
  const unauthenticatedLines = new LogRateLimiter(LINES_A_MINUTE, ({ key: network, count: requests, suppressed }) =>
    logger.warn(
      { network, requests, left_out: suppressed },
      'Too many requests with invalid keys from one network within a minute; some were not logged.',
    ),
  );
  const unavailableLines = new LogRateLimiter(UNAVAILABLE_LINES_A_MINUTE, ({ count: requests, suppressed }) =>
    logger.warn(
      { requests, left_out: suppressed },
      'Too many calls were rejected as unavailable; some were not logged.',
    ),
  );
  const mayLog = (request: FastifyRequest, { statusCode }: FastifyReply): boolean => {
    if (isUnauthenticated(request)) return unauthenticatedLines.admit(networkOf(arrivalOf(request).ip));
    return !UNAVAILABLE.has(statusCode) || unavailableLines.admit('');
  };
  server.addHook('onResponse', (request, reply, done) => {
    const isOther = isApiAddress(request.url) && (request.method !== 'POST' || reply.statusCode >= 400);
    if (isOther && mayLog(request, reply)) logger.log(lineOf(request, reply));
    done();
  });
  server.addHook('onClose', (_server, done) => {
    unauthenticatedLines.end();
    unavailableLines.end();
    done();
  });
}

const lineOf = (request: FastifyRequest, reply: FastifyReply): Record<string, unknown> => ({
  request_id: request.id,
  method: request.method,
  path: maskKeys(request.url.split('?', 1)[0] ?? ''),
  status: reply.statusCode,
  duration_ms: Math.round(reply.elapsedTime),
});

const isUnauthenticated = (request: FastifyRequest): boolean => (request as { user?: unknown }).user === undefined;

/** Far more than the largest body comes in; pieces of a few bytes cost more than they are worth. */
const MAX_CHUNKS = 20_000;

interface UnreadBodyLimits {
  /** Max ms to keep reading from a client after the response. */
  readonly lingerUnreadMs: number;
  /** Max bytes to read meanwhile. */
  readonly maxBytes: number;
}

/**
 * Responses to requests whose body is still being sent: the response is written at once, and the connection is closed
 * after the rest of the body was discarded for a while. Closing a socket with unread bytes resets it, and the client
 * would lose the response.
 */
function respondBeforeBodies(server: FastifyInstance, limits: UnreadBodyLimits): void {
  server.addHook('onSend', (request, reply, payload, done) => {
    if (!isUnread(request.raw)) return done(null, payload);
    // A body that arrives with its headers is complete on the next tick.
    setImmediate(() =>
      done(null, isUnread(request.raw) ? withLingering(request.raw, reply, payload, limits) : payload),
    );
  });
}

/** Wraps the payload so that the connection is closed after the client had time to read it. */
function withLingering(
  request: IncomingMessage,
  reply: FastifyReply,
  payload: unknown,
  limits: UnreadBodyLimits,
): unknown {
  void reply.header('connection', 'close');
  if (typeof payload !== 'string' || reply.statusCode === 204) return payload;
  void reply.header('content-length', Buffer.byteLength(payload));
  return Readable.from(respondThenDiscard(payload, request, limits), { objectMode: false });
}

function isUnread({ complete, headers }: IncomingMessage): boolean {
  // The response to a request without a body may precede the parser's end event.
  return !complete && (headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0);
}

async function* respondThenDiscard(
  payload: string,
  request: IncomingMessage,
  limits: UnreadBodyLimits,
): AsyncGenerator<string> {
  yield payload;
  await discardBody(request, limits);
}

/** Resolves when the body has ended, the client has left, or the limits are reached. */
function discardBody(request: IncomingMessage, { lingerUnreadMs, maxBytes }: UnreadBodyLimits): Promise<void> {
  return new Promise((resolve) => {
    let bytes = 0;
    let chunks = 0;
    const timer = setTimeout(finish, lingerUnreadMs);
    function count(chunk: Buffer): void {
      bytes += chunk.length;
      chunks += 1;
      if (bytes > maxBytes || chunks > MAX_CHUNKS) finish();
    }
    function finish(): void {
      clearTimeout(timer);
      request.off('data', count).off('end', finish).off('close', finish).pause();
      resolve();
    }
    if (request.destroyed) finish();
    else request.on('data', count).once('end', finish).once('close', finish).resume();
  });
}
