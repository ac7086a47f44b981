import { Observable, type Subscriber } from 'rxjs';
import type { WebSocket } from 'ws';
import { AsyncLocalStorage } from 'node:async_hooks';
import type { ChannelTimeouts } from '../../catalog/channels/index.js';
import { AppError, monotonicMs } from '../../platform/shared/index.js';
import type { Flow, SplicedBody, UpstreamHeaders, UpstreamSocketProtocol } from '../../protocols/contract/index.js';
import { NO_RESPONSE_IN_TIME, STOPPED_MID_RESPONSE, type UpstreamPart } from './upstream-client.js';

/** The call may be sent over HTTP instead, if no part of the response has reached the client. */
export class SocketLost extends AppError {
  constructor(
    /** The handshake failed, or the upstream closed the socket without responding to its first message. */
    readonly isRefusal: boolean,
    isBegun: boolean,
    cause?: unknown,
  ) {
    const kind = isBegun ? 'upstream_truncated' : 'upstream_error';
    super(kind, isRefusal ? REFUSED : 'The upstream closed the WebSocket.', { failover: true }, { cause });
  }
}

const REFUSED = 'The upstream does not accept WebSockets.';

/** Input of a call on a socket. */
export interface SocketSend {
  readonly message: SplicedBody;
  readonly flow: Flow;
  readonly timeouts: ChannelTimeouts;
}

/** One WebSocket to an upstream. Carries one call at a time, each like a request with a streamed response. */
export class UpstreamSocket {
  private readonly openedMs = monotonicMs();
  private headers: UpstreamHeaders = {};
  private current: SocketExchange | undefined;
  /** Of the last call: the upstream keeps its conversation. */
  private lastId: string | undefined;
  private hasResponded = false;
  private isAlive = true;
  private error: unknown;

  constructor(
    private readonly socket: WebSocket,
    private readonly protocol: UpstreamSocketProtocol,
    onClose: () => void,
  ) {
    socket
      .on('upgrade', ({ headers }) => (this.headers = headers))
      .on('unexpected-response', (_, { statusCode }) => this.refuse(statusCode))
      .on('message', (data) => this.onMessage(data as Buffer))
      .on('pong', () => (this.isAlive = true))
      .on('ping', () => (this.isAlive = true))
      // The close event follows.
      .on('error', (error) => (this.error ??= error))
      .once('close', () => {
        onClose();
        this.current?.fail(this.lost());
      });
  }

  get isBusy(): boolean {
    return this.current !== undefined;
  }

  get ageMs(): number {
    return monotonicMs() - this.openedMs;
  }

  /** The response whose conversation the upstream keeps for this socket. */
  get continuable(): string | undefined {
    return this.current === undefined ? this.lastId : undefined;
  }

  /** Parts as those of an HTTP response. Sends on subscription; unsubscribing before the end closes the socket. */
  exchange({ message, flow, timeouts }: SocketSend): Observable<UpstreamPart> {
    return new Observable((subscriber) => {
      const exchange = new SocketExchange(subscriber, this.socket, flow, timeouts);
      this.current = exchange;
      // Only a complete response is kept by the upstream.
      this.lastId = undefined;
      const send = (): void => exchange.send(Buffer.concat(message.pieces()));
      if (this.socket.readyState === this.socket.OPEN) send();
      else if (this.socket.readyState === this.socket.CONNECTING) this.socket.once('open', send);
      else exchange.fail(this.lost());
      return () => {
        const isCancelled = !exchange.isOver;
        exchange.end();
        if (this.current === exchange) this.current = undefined;
        if (isCancelled) this.close();
      };
    });
  }

  /** Call regularly: closes the socket if there was no sign of life since the last time. */
  sweep(): void {
    // A paused call does not read pongs.
    if (!this.isAlive && !this.socket.isPaused) return this.close();
    this.isAlive = false;
    if (this.socket.readyState === this.socket.OPEN) this.socket.ping();
  }

  close(): void {
    this.socket.terminate();
  }

  private lost(): SocketLost {
    return new SocketLost(!this.hasResponded, this.current?.isBegun === true, this.error);
  }

  private refuse(status: number | undefined): void {
    this.error = new Error(`The handshake was answered with status ${status}.`);
    this.close();
  }

  private onMessage(data: Buffer): void {
    this.isAlive = true;
    this.hasResponded = true;
    const { current } = this;
    // Messages between calls are ignored.
    if (current === undefined) return;
    try {
      this.deliver(data, current);
    } catch (error) {
      // Thrown here, it would end the process.
      current.fail(error);
      this.close();
    }
  }

  private deliver(data: Buffer, current: SocketExchange): void {
    const { event, last, responseId, rejection } = this.protocol.read(data);
    if (last) {
      this.current = undefined;
      this.lastId = responseId;
    }
    if (rejection !== undefined && !current.isBegun) current.respond({ ...rejection, body: data });
    else current.pass(event, this.headers);
    if (last) current.complete();
  }
}

/** Override headers of the handshake. */
const STREAM_HEADERS = { 'content-type': 'text/event-stream', 'content-length': undefined };
const JSON_HEADERS = { 'content-type': 'application/json' };

/** One call on a socket. */
class SocketExchange {
  /** A part of the response has arrived. */
  isBegun = false;
  isOver = false;
  private timer: NodeJS.Timeout | undefined;
  private detach = (): void => undefined;
  /** A socket keeps the async context of the call that opened it. */
  private readonly inCall = AsyncLocalStorage.snapshot();

  constructor(
    private readonly subscriber: Subscriber<UpstreamPart>,
    private readonly socket: WebSocket,
    private readonly flow: Flow,
    private readonly timeouts: ChannelTimeouts,
  ) {}

  send(message: Buffer): void {
    if (this.isOver) return;
    this.detach = this.flow.attach({ pause: () => this.pause(), resume: () => this.resume() });
    this.inCall(() => this.subscriber.next({ type: 'connected' }));
    this.wait();
    this.socket.send(message, { binary: false }, (error) => {
      if (!(error instanceof Error) && !this.isOver) this.inCall(() => this.subscriber.next({ type: 'sent' }));
    });
  }

  pass(event: Buffer, headers: UpstreamHeaders): void {
    this.begin(200, { ...headers, ...STREAM_HEADERS });
    this.wait();
    this.inCall(() => this.subscriber.next({ type: 'chunk', bytes: event }));
  }

  /** The whole response. */
  respond({ status, headers, body }: { status: number; headers: UpstreamHeaders; body: Buffer }): void {
    this.begin(status, { ...headers, ...JSON_HEADERS });
    this.inCall(() => this.subscriber.next({ type: 'chunk', bytes: body }));
  }

  complete(): void {
    if (this.isOver) return;
    this.end();
    this.inCall(() => this.subscriber.complete());
  }

  fail(error: unknown): void {
    if (this.isOver) return;
    this.end();
    this.inCall(() => this.subscriber.error(error));
  }

  /** Releases timers; the socket can be used by the next call. */
  end(): void {
    this.isOver = true;
    clearTimeout(this.timer);
    this.detach();
    if (this.socket.isPaused) this.socket.resume();
  }

  private begin(status: number, headers: UpstreamHeaders): void {
    if (this.isBegun) return;
    this.isBegun = true;
    this.inCall(() => this.subscriber.next({ type: 'head', status, headers }));
  }

  private pause(): void {
    clearTimeout(this.timer);
    this.socket.pause();
  }

  private resume(): void {
    this.socket.resume();
    this.wait();
  }

  /** For the next message. */
  private wait(): void {
    clearTimeout(this.timer);
    if (this.isOver || this.flow.paused) return;
    const [ms, message] = this.isBegun
      ? [this.timeouts.idleMs, STOPPED_MID_RESPONSE]
      : [this.timeouts.firstEventMs, NO_RESPONSE_IN_TIME];
    this.timer = setTimeout(() => this.late(message), ms);
  }

  private late(message: string): void {
    this.inCall(() => this.subscriber.error(new AppError('timeout', message, { failover: true })));
  }
}
