import { Injectable } from '@nestjs/common';
import { defer, type Observable, tap } from 'rxjs';
import { WebSocket } from 'ws';
import type { createConnection } from 'node:net';
import type { Channel, ChannelCredential } from '../../catalog/channels/index.js';
import { Metrics } from '../../platform/metrics/index.js';
import { monotonicMs } from '../../platform/shared/index.js';
import type { Continuation, Flow, UpstreamRequest, UpstreamSocketProtocol } from '../../protocols/contract/index.js';
import { RelayTimings } from '../relay-timings.js';
import type { UpstreamOrigin } from '../stored-responses/index.js';
import { addressOf, credentialHeader, headersFor, type UpstreamPart } from './upstream-client.js';
import { UpstreamPools } from './upstream-pools.js';
import { SocketLost, UpstreamSocket } from './upstream-socket.js';

/** Idle sockets to upstreams per connection of a client; beyond this the one that is idle for longest is closed. */
const MAX_IDLE = 8;
/** Larger messages are sent over HTTP, which writes them in slices. */
const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;
const MAX_RESPONSE_BYTES = 64 * 1024 * 1024;
/** Part of the vendor's max age after which a socket gets no further call. */
const USABLE_AGE = 0.95;

/** The upstream of an attempt. */
interface SocketTarget {
  readonly channel: Channel;
  readonly credential: ChannelCredential | undefined;
}

/** Opens WebSockets to upstreams like their other connections: same proxy, TLS and address checks. */
@Injectable()
export class UpstreamSockets {
  /** Channels used over HTTP only, and until when (monotonic). */
  private readonly refusals = new Map<string, number>();
  private count = 0;

  constructor(
    private readonly pools: UpstreamPools,
    readonly timings: RelayTimings,
    metrics: Metrics,
  ) {
    const help = 'Open WebSockets to upstreams.';
    metrics.gauge('upstream_websockets_open', help, [], (measured) => measured.set(this.count));
  }

  /** For one connection of a client, which closes it. */
  forConnection(): ConnectionSockets {
    return new ConnectionSockets(this);
  }

  /** Whether no handshake was refused lately. Sockets outlive access tokens of service accounts. */
  accepts({ channel, credential }: SocketTarget): boolean {
    if (credential?.serviceAccount !== undefined) return false;
    const name = nameOf(channel, credential);
    const until = this.refusals.get(name);
    if (until !== undefined && until <= monotonicMs()) this.refusals.delete(name);
    return !this.refusals.has(name);
  }

  noteRefusal({ channel, credential }: SocketTarget): void {
    this.refusals.set(nameOf(channel, credential), monotonicMs() + this.timings.socketRetryMs);
  }

  open(
    { channel }: SocketTarget,
    { url, headers }: UpstreamHandshake,
    protocol: UpstreamSocketProtocol,
    onClose: () => void,
  ): UpstreamSocket {
    const { connectMs } = channel.timeouts;
    const { protocol: scheme, port, host } = url;
    const hostname = url.hostname.replace(/^\[(.*)\]$/, '$1');
    const connect = this.pools.connectorFor(url, connectMs);
    const socket = new WebSocket(url, {
      headers,
      perMessageDeflate: false,
      maxPayload: MAX_RESPONSE_BYTES,
      handshakeTimeout: connectMs,
      // Node passes a callback, which its types omit.
      createConnection: ((_: unknown, done: Parameters<typeof connect>[1]) =>
        connect({ protocol: scheme, hostname, port, host }, done)) as unknown as typeof createConnection,
    });
    this.count += 1;
    return new UpstreamSocket(socket, protocol, () => {
      this.count -= 1;
      onClose();
    });
  }
}

const nameOf = ({ id, baseUrl }: Channel, credential: ChannelCredential | undefined): string =>
  JSON.stringify([id, baseUrl, credential?.id]);

/** The first request of a socket. */
interface UpstreamHandshake {
  readonly url: URL;
  readonly headers: Record<string, string>;
}

interface OpenSocket {
  readonly socket: UpstreamSocket;
  readonly lane: string | undefined;
  readonly origin: UpstreamOrigin;
  /** Address and credential: a changed channel needs another socket. */
  readonly identity: string;
}

/** The sockets to upstreams of one connection of a client: one for each lane, channel and credential. */
export class ConnectionSockets {
  /** Least recently used first. */
  private readonly open = new Map<string, OpenSocket>();

  constructor(private readonly sockets: UpstreamSockets) {}

  /** @param lane stream ID; its calls run one after the other */
  forCall(lane: string | undefined, continuation: Continuation | undefined): CallSockets {
    return new CallSockets(this, this.sockets, lane, continuation);
  }

  /** The socket of the lane whose upstream keeps this response. */
  holding(lane: string | undefined, responseId: string): OpenSocket | undefined {
    return [...this.open.values()].find(
      (opened) => opened.lane === lane && opened.socket.continuable === responseId && this.isUsable(opened.socket),
    );
  }

  /** An idle socket for the next call of the lane. */
  take(
    lane: string | undefined,
    target: SocketTarget,
    handshake: UpstreamHandshake,
    protocol: UpstreamSocketProtocol,
  ): UpstreamSocket {
    const { channel, credential } = target;
    const origin = { channelId: channel.id, credentialId: credential?.id ?? null };
    const name = JSON.stringify([lane, origin]);
    const identity = identityOf(target, handshake);
    const known = this.open.get(name);
    this.open.delete(name);
    const isReusable = known?.identity === identity && !known.socket.isBusy && this.isUsable(known.socket);
    if (!isReusable) known?.socket.close();
    const onClose = (): void => {
      if (this.open.get(name)?.socket === socket) this.open.delete(name);
    };
    const socket = isReusable ? known.socket : this.sockets.open(target, handshake, protocol, onClose);
    this.open.set(name, { socket, lane, origin, identity });
    this.closeExcess();
    return socket;
  }

  /** Call regularly. */
  sweep(): void {
    for (const { socket } of this.open.values()) {
      if (!socket.isBusy && !this.isUsable(socket)) socket.close();
      else socket.sweep();
    }
  }

  close(): void {
    for (const { socket } of this.open.values()) socket.close();
  }

  private isUsable({ ageMs }: UpstreamSocket): boolean {
    return ageMs < this.sockets.timings.socketMs * USABLE_AGE;
  }

  private closeExcess(): void {
    const idle = [...this.open].filter(([, { socket }]) => !socket.isBusy);
    // The last one is about to be used.
    for (const [name, { socket }] of idle.slice(0, Math.max(0, idle.length - 1 - MAX_IDLE))) {
      this.open.delete(name);
      socket.close();
    }
  }
}

const identityOf = ({ channel, credential }: SocketTarget, { url }: UpstreamHandshake): string =>
  JSON.stringify([url.href, channel.auth, channel.headers, credential?.id]);

/** The upstream sockets available to one call. */
export class CallSockets {
  constructor(
    private readonly connection: ConnectionSockets,
    private readonly sockets: UpstreamSockets,
    private readonly lane: string | undefined,
    private readonly continuation: Continuation | undefined,
  ) {}

  /** Where the call's previous response is kept; undefined: nowhere. */
  get origin(): UpstreamOrigin | undefined {
    return this.continuation && this.connection.holding(this.lane, this.continuation.previousId)?.origin;
  }

  /** @param bytes size of the request */
  accepts(target: SocketTarget, bytes: number): boolean {
    return bytes <= MAX_MESSAGE_BYTES && this.sockets.accepts(target);
  }

  /** The body without what this upstream keeps; undefined if it keeps nothing. */
  continuationAt({ channel, credential }: SocketTarget): Buffer | undefined {
    const { origin } = this;
    const isHere = origin?.channelId === channel.id && origin.credentialId === (credential?.id ?? null);
    return isHere ? this.continuation?.body() : undefined;
  }

  /** As `UpstreamClient.open`; fails with `SocketLost` if HTTP may be tried. */
  exchange(
    target: SocketTarget,
    request: UpstreamRequest,
    protocol: UpstreamSocketProtocol,
    flow: Flow,
  ): Observable<UpstreamPart> {
    const noteRefusal = (error: unknown): void => {
      if (error instanceof SocketLost && error.isRefusal) this.sockets.noteRefusal(target);
    };
    return defer(() => {
      const { channel, credential } = target;
      const { origin, path } = addressOf(channel, request);
      const authorization = credential && credentialHeader(channel, credential.secret);
      const headers = { ...headersFor(channel, request), ...authorization };
      const handshake = { url: new URL(origin + path), headers };
      const socket = this.connection.take(this.lane, target, handshake, protocol);
      return socket
        .exchange({ message: request.body, flow, timeouts: channel.timeouts })
        .pipe(tap({ error: noteRefusal }));
    });
  }
}
