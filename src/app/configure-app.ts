import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { renderOpenAiError } from '../protocols/contract/index.js';
import { Config } from '../platform/config/index.js';
import { ErrorFilter } from './error.filter.js';
import {
  RelayTimings,
  RunState,
  answering,
  isApiAddress,
  isApiRequest,
  noteArrival,
  canonicalPath,
  Tracing,
} from '../relay/index.js';
import { logOtherRequests } from './request-log.js';
import { AppError, newId } from '../platform/shared/index.js';
import { answerBeforeBodies } from './unread-body.js';

import { readFormBodies } from '../console/web/index.js';

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

/** What a page of another site may send to the API and see of its answers; told to whoever names such a site. The API
 * never looks at cookies. */
const CROSS_ORIGIN = {
  'access-control-allow-origin': '*',
  'access-control-allow-methods': 'GET, POST, DELETE, OPTIONS',
  'access-control-allow-headers': '*, authorization',
  'access-control-expose-headers': [...EXPOSED_HEADERS, ...LIMIT_HEADERS].join(', '),
  'access-control-max-age': '86400',
} as const;

/** A type and a subtype; the framework refuses anything else in words of its own. */
const MEDIA_TYPE = /^[\w!#$&^.+-]+\/[\w!#$&^.+-]+ *(?:;|$)/;

/** What is so broken that it never becomes a request, by the parser's word for it. */
const BROKEN: Readonly<Record<string, readonly [status: number, message: string]>> = {
  HPE_HEADER_OVERFLOW: [431, 'The headers of this request are too large.'],
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'The request did not arrive in time.'],
};

/** How long connections are waited for, in milliseconds; bodies have limits of their own (relay-timings.ts). */
export interface ConnectionTimes {
  /** All headers of a request must have come by then. */
  readonly headersMs: number;
  /** How often is looked for those that are late. */
  readonly checkMs: number;
  /** A connection that nothing is asked on; longer than what stands in front, which usually gives up after 60 s. */
  readonly idleMs: number;
}

const CONNECTION_TIMES: ConnectionTimes = { headersMs: 30_000, checkMs: 5_000, idleMs: 75_000 };

/** The server below Nest: request ids, tolerated forms of addresses, and whose word is taken for a client's address. */
export function createAdapter(config: Config, times = CONNECTION_TIMES): FastifyAdapter {
  return new FastifyAdapter({
    genReqId: () => newId('req', Date.now()),
    rewriteUrl: ({ url, method, headers }: IncomingMessage) => canonicalPath(url ?? '/', method ?? 'GET', headers),
    trustProxy: config.trustedProxies.length > 0 ? [...config.trustedProxies] : false,
    forceCloseConnections: 'idle',
    exposeHeadRoutes: false,
    // Some vendors' ids of responses have hundreds of characters.
    routerOptions: { maxParamLength: 1024 },
    clientErrorHandler: refuseBroken,
    http: { headersTimeout: times.headersMs, connectionsCheckingInterval: times.checkMs },
    // A body of 64 MiB at the slowest speed that is accepted takes two hours.
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
  // No body but a form's is read before the key is checked: whoever needs one reads it from the socket.
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
    // A body is JSON whatever it is called: `curl -d` says it is a form.
    if (isApiAddress(request.url) || !MEDIA_TYPE.test(request.headers['content-type'] ?? ''))
      delete request.raw.headers['content-type'];
    // A browser asks first, and asks without a key.
    if (request.method === 'OPTIONS') void reply.headers(CROSS_ORIGIN).status(204).send();
    else answering(request.id, done);
  });
  logOtherRequests(server);
  answerBeforeBodies(server, { lingerUnreadMs, maxBytes: app.get(Config).maxBodyBytes });
  app.useGlobalFilters(app.get(ErrorFilter));
}

/** Whether an answer is being written on the socket; Node keeps the message it is writing there. */
function isAnswering(socket: Socket & { readonly _httpMessage?: ServerResponse | null }): boolean {
  return socket._httpMessage?.headersSent === true;
}

/** There is no path that would tell a dialect, so this is in the shape that most clients read. */
function refuseBroken({ code }: Error & { readonly code?: string }, socket: Socket): void {
  if (code === 'ECONNRESET' || !socket.writable || isAnswering(socket)) return void socket.destroy();
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
