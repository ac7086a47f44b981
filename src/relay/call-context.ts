import type { FastifyRequest } from 'fastify';
import type { Observable } from 'rxjs';
import { AsyncLocalStorage } from 'node:async_hooks';
import type { IncomingHttpHeaders } from 'node:http';
import { Readable } from 'node:stream';
import type { Caller } from '../keys/index.js';
import { addressOf, type AppError, idTime, monotonicMs } from '../platform/shared/index.js';
import {
  type Call,
  type CallTrace,
  Flow,
  type Frame,
  type Interruption,
  type ProtocolAdapter,
  type RequestLine,
  type StreamRenderer,
  type StreamTail,
  type Transport,
  Waits,
} from '../protocols/contract/index.js';
import type { IncomingBody } from './body-reader.js';
import type { CallSockets } from './upstream/upstream-sockets.js';

const WARNINGS = 'x-relay-warnings';

/** Properties of the response that the reply writer needs. */
export interface ReplyFacts {
  readonly flow: Flow;
  readonly headers: Readonly<Record<string, string>>;
  readonly tail: StreamTail;
  /** The end of a failed stream, if the response has its own renderer. */
  failure(error: AppError): Uint8Array | undefined;
  /** The `server-timing` header, computed when the head is sent; undefined before an upstream has responded. */
  serverTiming(): string | undefined;
}

/** A response to be sent: to an HTTP client, to several, or over a WebSocket. */
export interface OutgoingReply {
  readonly call: Call;
  /** Of the protocol of the response. */
  readonly responseAdapter: ProtocolAdapter;
  readonly facts: ReplyFacts;
  /** Cold; unsubscribing ends the call as cancelled. */
  readonly frames: Observable<Frame>;
}

/** The end of a failed stream. @param isBegun part of the response itself was sent */
export function failureBytes(
  { call, responseAdapter, facts }: Omit<OutgoingReply, 'frames'>,
  error: AppError,
  isBegun: boolean,
): Uint8Array {
  // A held-back prelude was never sent, so the error comes first.
  const own = isBegun ? facts.failure(error) : undefined;
  return own ?? responseAdapter.renderStreamError(call, error, isBegun ? facts.tail : {});
}

/** The end of a response, as load shedding, shutdown and traces see it. Calls over WebSockets have their own. */
export interface ResponseEnd {
  readonly destroyed: boolean;
  readonly headersSent: boolean;
  readonly statusCode: number;
  once(event: 'close', listener: () => void): unknown;
}

/** State shared by the engine and the reply writer during one call. */
export class ReplyState implements ReplyFacts {
  /** Why the response waited. */
  readonly waits: Waits;
  /** Back-pressure from the client to the current upstream. */
  readonly flow: Flow;
  /** Response headers set by the engine, sent with the first byte. */
  readonly headers: Record<string, string> = {};
  /** Durations for `server-timing`, in ms. */
  readonly timing: { admitMs?: number; upstreamMs?: number } = {};
  /** First and last event of the upstream. */
  tail: StreamTail = {};
  /** Renderer of the current attempt, if translated. */
  renderer: StreamRenderer | undefined;
  /** Called with the relay's own latency in ms when the head is sent. */
  onHeadSent: ((relayMs: number) => void) | undefined;
  /** Called when no other channel can be tried, so that the body is no longer needed. */
  onBodySpent: (() => void) | undefined;
  private isCommitted = false;
  private failed: Uint8Array | undefined;

  constructor(
    readonly interruption: Interruption,
    /** Start of the call, monotonic. */
    readonly startedMs: number,
  ) {
    this.waits = new Waits(startedMs);
    this.flow = new Flow(this.waits);
  }

  /** A part of the response is on its way to the client: no other channel can be tried. */
  get committed(): boolean {
    return this.isCommitted;
  }

  commit(): void {
    if (this.isCommitted) return;
    this.isCommitted = true;
    this.onBodySpent?.();
  }

  /** A new attempt begins. */
  begin(): void {
    this.tail = {};
    this.renderer = undefined;
  }

  /** Translation warnings about request and response, sent with the first byte. */
  set warnings(warnings: string | undefined) {
    if (warnings === undefined) delete this.headers[WARNINGS];
    else this.headers[WARNINGS] = warnings;
  }

  /** The same for all clients that share the response. */
  failure(error: AppError): Uint8Array | undefined {
    return (this.failed ??= this.renderer && Buffer.from(this.renderer.fail(error)));
  }

  /** Time to first byte by part: admission, upstream, relay, in ms. Undefined before an upstream has responded. */
  serverTiming(): string | undefined {
    const { admitMs = 0, upstreamMs } = this.timing;
    if (upstreamMs === undefined) return undefined;
    const relayMs = Math.max(0, monotonicMs() - this.startedMs - admitMs - upstreamMs);
    // Only for the first client of a shared response: others joined later.
    this.onHeadSent?.(relayMs);
    this.onHeadSent = undefined;
    return `admit;dur=${admitMs.toFixed(1)}, upstream;dur=${upstreamMs.toFixed(1)}, relay;dur=${relayMs.toFixed(1)}`;
  }
}

/** Properties of a request known from its arrival. */
export interface Arrival {
  /** Unix ms, as in the request's ID. */
  readonly createdAt: number;
  /** Monotonic. */
  readonly startedMs: number;
  readonly transport: Transport;
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
  const transport = asksForWebSocket(request.headers) ? 'websocket' : 'http';
  arrivals.set(request, { createdAt, startedMs: monotonicMs(), transport, ip: addressOf(request), trace });
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

/** A request for a call whose caller is authenticated. */
export interface IncomingCall {
  /** Request ID. */
  readonly id: string;
  readonly caller: Caller;
  readonly line: RequestLine;
  readonly arrival: Arrival;
  readonly body: IncomingBody;
  /** Set if it arrived over a WebSocket. */
  readonly sockets?: CallSockets;
}

/** Requires the key guard. */
export const incomingCallOf = (request: FastifyRequest): IncomingCall => ({
  id: request.id,
  caller: callerOf(request),
  line: requestLineOf(request),
  arrival: arrivalOf(request),
  body: request.raw,
});

/** A body that is already complete. */
export const bodyOf = (bytes: Buffer): IncomingBody =>
  Object.assign(Readable.from([bytes]), { headers: { 'content-length': String(bytes.length) } });

/** Prefixes, possibly repeated, that clients add when their base URL differs from what they expect. */
const PREFIX = /^(?:\/(?:v1|chat\/completions|responses|messages))*(?=\/)/;
const ENDPOINT =
  /^\/(?:chat\/completions|responses(?:\/.+)?|messages(?:\/count_tokens)?|models(?:\/.+)?|conversations(?:\/.+)?|key|generations\/.+)$/;
/** Endpoints that name the model in their path; some clients use another version. */
const MODEL_ENDPOINT = /^(?:\/v1(?:alpha|beta))?\/models\/(.+):(generateContent|streamGenerateContent|countTokens)$/;
/** Below the version that clients of these endpoints use. */
const BETA = /^\/v1(?:alpha|beta)(?=\/models(?:\/|$))/;
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
  for (const suffix of suffixes(withoutSlashes(path))) {
    const [, model, action] = MODEL_ENDPOINT.exec(suffix) ?? [];
    // One segment, for the router, even if the name has slashes.
    if (model !== undefined) return `/v1beta/models/${encodeURIComponent(decoded(model))}:${action}${query}`;
    if (BETA.test(suffix)) return `${suffix.replace(BETA, '/v1beta')}${query}`;
    if (ENDPOINT.test(suffix)) return `/v1${suffix}${query}`;
  }
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

/** As is if its escapes are not UTF-8. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Header of Google's clients for the key. */
const KEY_HEADER = 'x-goog-api-key';

/**
 * Moves the key of Google's clients from the query, `?key=`, to its header, before anything sees the URL. A header that
 * was sent has precedence.
 * @returns the URL without the key
 */
export function withoutQueryKey(url: string, headers: IncomingHttpHeaders): string {
  const queryAt = url.indexOf('?');
  if (queryAt < 0 || !url.startsWith('/v1beta/')) return url;
  const parameters = url.slice(queryAt + 1).split('&');
  const isKey = (parameter: string): boolean => /^key(?:=|$)/.test(parameter);
  const key = parameters.find(isKey);
  if (key === undefined) return url;
  const secret = new URLSearchParams(key).get('key') ?? '';
  if (secret !== '') headers[KEY_HEADER] ??= secret;
  const others = parameters.filter((parameter) => !isKey(parameter));
  return url.slice(0, queryAt) + (others.length === 0 ? '' : `?${others.join('&')}`);
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

export const isApiAddress = (url: string): boolean => /^\/v1(?:beta)?(?:[/?]|$)/.test(url);

/** Whether a program requests the API, rather than a browser a page. */
export function isApiRequest(request: FastifyRequest): boolean {
  if (isApiAddress(request.url)) return true;
  return !['GET', 'HEAD'].includes(request.method) && !isForm(request);
}

/**
 * Whether the client requires a WebSocket. Other upgrade offers allow a normal response: `curl --http2` sends one with
 * every request.
 */
export const asksForWebSocket = (headers: IncomingHttpHeaders): boolean =>
  headers.upgrade?.split(',').some((protocol) => protocol.trim().toLowerCase() === 'websocket') ?? false;

/** Browsers send Sec-Fetch-Mode only over TLS and on localhost, but always Accept. */
const isForm = ({ headers }: FastifyRequest): boolean =>
  headers['sec-fetch-mode'] === 'navigate' ||
  headers.accept?.includes('text/html') === true ||
  headers['content-type']?.startsWith('multipart/form-data') === true;
