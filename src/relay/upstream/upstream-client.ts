import { Injectable } from '@nestjs/common';
import { Observable, type Subscriber } from 'rxjs';
import type { Dispatcher } from 'undici';
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Channel, ChannelCredential } from '../../catalog/channels/index.js';
import { AppError, type ErrorKind, type Secret } from '../../platform/shared/index.js';
import type { Flow, SplicedBody, UpstreamHeaders, UpstreamRequest } from '../../protocols/contract/index.js';
import { GoogleTokens } from './google-tokens.js';
import { UpstreamPools } from './upstream-pools.js';

/** Smaller bodies are joined into one write; larger ones are written in slices of this size. */
const SLICE_BYTES = 64 * 1024;

/**
 * In order: connected, sent, one head, any number of chunks, completion. An upstream may respond before the request is
 * sent.
 */
export type UpstreamPart =
  | { readonly type: 'connected' }
  | { readonly type: 'sent' }
  | { readonly type: 'head'; readonly status: number; readonly headers: UpstreamHeaders }
  | { readonly type: 'chunk'; readonly bytes: Buffer };

const isUnauthorized = (part: UpstreamPart): boolean => part.type === 'head' && part.status === 401;

const CONNECTED: UpstreamPart = { type: 'connected' };
const SENT: UpstreamPart = { type: 'sent' };

/** Sends requests to upstreams over pooled connections. Redirects are not followed. */
@Injectable()
export class UpstreamClient {
  constructor(
    private readonly pools: UpstreamPools,
    private readonly tokens: GoogleTokens,
  ) {}

  /**
   * Sends the request on subscription. Unsubscribing aborts it and closes its socket; pausing the flow stops reading.
   * Errors are AppErrors that allow failover.
   */
  open(
    channel: Channel,
    credential: ChannelCredential | undefined,
    request: UpstreamRequest,
    flow: Flow,
  ): Observable<UpstreamPart> {
    const account = credential?.serviceAccount;
    if (account === undefined)
      return this.send(channel, request, flow, credential && credentialHeader(channel, credential.secret));
    return this.tokens.authorize(account, (token) => this.send(channel, request, flow, bearer(token)), isUnauthorized);
  }

  private send(
    channel: Channel,
    request: UpstreamRequest,
    flow: Flow,
    authorization: Readonly<Record<string, string>> = {},
  ): Observable<UpstreamPart> {
    return new Observable((subscriber) => {
      const address = addressOf(channel, request);
      const { method = 'POST', body } = request;
      const exchange = new UpstreamExchange(subscriber, flow, method === 'POST' ? body.length : 0);
      const length = method === 'POST' && { 'content-length': String(body.length) };
      this.pools.poolFor(address.origin, channel.timeouts.connectMs).dispatch(
        {
          path: address.path,
          method,
          headers: { ...headersFor(channel, request), ...authorization, ...length },
          body: method === 'POST' ? bodyOf(body) : null,
          headersTimeout: channel.timeouts.firstEventMs,
          bodyTimeout: channel.timeouts.idleMs,
        },
        exchange,
      );
      return () => exchange.abort();
    });
  }
}

/**
 * The body for undici, which accepts iterables although its types do not say so. It waits for the socket after each
 * slice and retains none, so dropped parts can be freed during the response.
 */
function bodyOf(body: SplicedBody): Buffer {
  const pieces = body.pieces();
  return body.length <= SLICE_BYTES ? Buffer.concat(pieces) : (slicesOf(pieces) as Iterable<Uint8Array> as Buffer);
}

function* slicesOf(pieces: Uint8Array[]): Generator<Uint8Array> {
  // Popping from a reversed list: shift() on a long one moves all elements.
  const remaining = pieces.toReversed();
  pieces.length = 0;
  for (let piece = remaining.pop(); piece !== undefined; piece = remaining.pop())
    for (let at = 0; at < piece.length; at += SLICE_BYTES) yield piece.subarray(at, at + SLICE_BYTES);
}

/** One request and its response, as an undici handler. */
class UpstreamExchange implements Dispatcher.DispatchHandler {
  private controller: Dispatcher.DispatchController | undefined;
  private detach = (): void => undefined;
  private over = false;
  /**
   * A pooled connection keeps the async context of the call that opened it, to which errors of others would be
   * attributed.
   */
  private readonly inCall = AsyncLocalStorage.snapshot();

  constructor(
    private readonly subscriber: Subscriber<UpstreamPart>,
    private readonly flow: Flow,
    /** Bytes of the body not handed to the connection yet. */
    private unsentBytes: number,
  ) {}

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.controller = controller;
    // Unsubscribed before a connection was available.
    if (this.over) return controller.abort(new Unsubscribed());
    this.detach = this.flow.attach(controller);
    this.inCall(() => this.subscriber.next(CONNECTED));
  }

  onBodySent(chunk: Buffer): void {
    this.unsentBytes -= chunk.length;
    if (this.unsentBytes === 0 && !this.over) this.inCall(() => this.subscriber.next(SENT));
  }

  onResponseStart(_: unknown, status: number, headers: UpstreamHeaders): void {
    if (status >= 200) this.inCall(() => this.subscriber.next({ type: 'head', status, headers }));
  }

  onResponseData(_: unknown, bytes: Buffer): void {
    this.inCall(() => this.subscriber.next({ type: 'chunk', bytes }));
  }

  onResponseEnd(): void {
    this.over = true;
    this.inCall(() => this.subscriber.complete());
  }

  onResponseError(_: unknown, error: Error): void {
    this.over = true;
    this.inCall(() => this.subscriber.error(connectionError(error)));
  }

  /** Aborts the exchange; if it has ended, its connection stays reusable. */
  abort(): void {
    this.detach();
    if (this.over) return;
    this.over = true;
    this.controller?.abort(new Unsubscribed());
  }
}

/** undici requires a reason. */
class Unsubscribed extends Error {}

interface Base {
  readonly origin: string;
  /** Without a trailing slash. */
  readonly path: string;
  /** Encoded. */
  readonly query: string;
}

/** Parsed once per channel object. */
const bases = new WeakMap<Channel, Base>();

/** The channel's base URL and query plus the request's own. */
export function addressOf(channel: Channel, request: UpstreamRequest): { origin: string; path: string } {
  const base = bases.get(channel) ?? parse(channel);
  const own = request.query === '' ? '' : new URLSearchParams(request.query).toString();
  const query = [base.query, own].filter((part) => part !== '').join('&');
  return { origin: base.origin, path: `${base.path}${request.path}${query && `?${query}`}` };
}

function parse(channel: Channel): Base {
  const { origin, pathname } = new URL(channel.baseUrl);
  const query = new URLSearchParams(channel.query).toString();
  const base = { origin, path: pathname.replace(/\/$/, ''), query };
  bases.set(channel, base);
  return base;
}

/** The request's headers and the channel's own. */
export function headersFor(channel: Channel, request: UpstreamRequest): Record<string, string> {
  return {
    ...request.headers,
    ...channel.headers,
    'accept-encoding': 'identity',
    'user-agent': 'switchboard',
  };
}

/** The header that authorizes. */
export function credentialHeader(channel: Channel, credential: Secret): Record<string, string> {
  if (channel.auth === 'bearer') return bearer(credential);
  return channel.auth === 'none' ? {} : { [channel.auth]: credential.reveal() };
}

const bearer = (token: Secret): Record<string, string> => ({ authorization: `Bearer ${token.reveal()}` });

export const NO_RESPONSE_IN_TIME = 'The upstream did not start to respond in time.';
export const STOPPED_MID_RESPONSE = 'The upstream stopped in the middle of its response.';

/** By undici's error code. */
const CONNECTION_ERRORS: Readonly<Record<string, readonly [kind: ErrorKind, message: string]>> = {
  UND_ERR_CONNECT_TIMEOUT: ['timeout', 'Connecting to the upstream timed out.'],
  UND_ERR_HEADERS_TIMEOUT: ['timeout', NO_RESPONSE_IN_TIME],
  UND_ERR_BODY_TIMEOUT: ['timeout', STOPPED_MID_RESPONSE],
};
const OTHER_ERROR = ['upstream_error', 'The connection to the upstream failed.'] as const;

/**
 * A connection error without details of the upstream. `failover`: another channel may respond, as long as nothing was
 * sent to the client.
 */
function connectionError(error: Error & { readonly code?: unknown }): AppError {
  if (error instanceof AppError) return error;
  const [kind, message] = CONNECTION_ERRORS[String(error.code)] ?? OTHER_ERROR;
  return new AppError(kind, message, { failover: true }, { cause: error });
}
