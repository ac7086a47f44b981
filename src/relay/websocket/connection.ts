import { Logger } from '@nestjs/common';
import type { Subscription } from 'rxjs';
import type { Socket } from 'node:net';
import type { WebSocket } from 'ws';
import { RefusedCaller } from '../../keys/index.js';
import { AppError, monotonicMs, newId } from '../../platform/shared/index.js';
import {
  type Flow,
  type SocketAction,
  type SocketProtocol,
  type SocketSession,
  type SocketTurn,
  SseSplitter,
} from '../../protocols/contract/index.js';
import type { Bodies } from '../bodies.js';
import type { BodyBudget, BodyShare } from '../body-budget.js';
import { failureBytes, type OutgoingReply } from '../call-context.js';
import type { RelayTimings } from '../relay-timings.js';
import type { ConnectionSockets, UpstreamSockets } from '../upstream/upstream-sockets.js';
import type { ClientHandshake, SocketCalls } from './socket-calls.js';

/** Close codes (RFC 6455, 7.4.1, and its registry). */
const NORMAL = 1000;
const GOING_AWAY = 1001;
const UNSUPPORTED_DATA = 1003;
const POLICY_VIOLATION = 1008;
const INTERNAL_ERROR = 1011;
const TRY_AGAIN_LATER = 1013;

/** Smaller messages are not counted while they arrive. */
const SMALL_BYTES = 64 * 1024;
/** Further messages are not read from the socket until these were. */
const MAX_UNREAD = 16;

/** Dependencies shared by connections. */
export interface ConnectionContext {
  readonly calls: SocketCalls;
  readonly bodies: Bodies;
  readonly budget: BodyBudget;
  readonly timings: RelayTimings;
  readonly upstreams: UpstreamSockets;
  /** Called whenever calls began or ended. */
  onChange(connection: SocketConnection): void;
  onClose(connection: SocketConnection): void;
}

/** One WebSocket: reads messages, runs the calls they start, and writes their events with back-pressure. */
export class SocketConnection {
  private readonly logger = new Logger('WebSocket');
  private readonly session: SocketSession;
  private readonly upstreams: ConnectionSockets;
  private readonly openedMs = monotonicMs();
  /** Ends calls whose client has left. */
  private readonly leaving = new Set<() => void>();
  /** Back-pressure to upstreams while the socket is full. */
  private readonly held = new Set<Flow>();
  private reading = Promise.resolve();
  private unread = 0;
  /** Size of the message that is arriving, and its share of the memory. */
  private arrivingBytes = 0;
  private share: BodyShare | undefined;
  private isAlive = true;
  private isDraining = false;
  private isClosed = false;

  constructor(
    private readonly context: ConnectionContext,
    private readonly socket: WebSocket,
    /** Below the WebSocket. */
    private readonly raw: Socket,
    readonly handshake: ClientHandshake,
    protocol: SocketProtocol,
    private readonly requestId: string,
  ) {
    this.session = protocol.open();
    this.upstreams = context.upstreams.forConnection();
    // Before the WebSocket's own listener, which ends messages.
    raw.prependListener('data', (chunk: Buffer) => this.onData(chunk));
    raw.on('drain', () => this.onDrain()).on('timeout', () => socket.terminate());
    socket.on('message', (data, isBinary) => this.onMessage(data as Buffer, isBinary));
    socket.on('pong', () => (this.isAlive = true)).on('ping', () => (this.isAlive = true));
    // The close event follows, with its code.
    socket.on('error', () => undefined).once('close', (code) => this.onClosed(code));
  }

  get isBusy(): boolean {
    return this.session.isBusy;
  }

  /** Bytes of earlier responses. */
  get keptBytes(): number {
    return this.session.keptBytes;
  }

  forget(): void {
    this.session.forget();
  }

  /** Call regularly: closes old connections, and those that gave no sign of life since the last time. */
  sweep(): void {
    if (this.isExpired && !this.isBusy) return this.expire();
    // A pong of a slow client waits behind what it has not read.
    if (!this.isAlive && !this.raw.writableNeedDrain) return this.socket.terminate();
    this.isAlive = false;
    this.socket.ping();
    this.upstreams.sweep();
  }

  /** No calls begin from now on; closes once those in progress have ended. */
  drain(): void {
    this.isDraining = true;
    this.closeIfDone();
  }

  terminate(): void {
    this.socket.terminate();
  }

  /** Tells the client to connect again. */
  retire(error: AppError): void {
    this.tell(error);
    this.close(NORMAL, 'reconnect');
  }

  private get isExpired(): boolean {
    return monotonicMs() - this.openedMs >= this.context.timings.socketMs;
  }

  private expire(): void {
    this.retire(new ConnectionExpired(this.context.timings.socketMs));
  }

  private onData(chunk: Buffer): void {
    this.isAlive = true;
    this.arrivingBytes += chunk.length;
    if (this.arrivingBytes <= SMALL_BYTES) return;
    this.share ??= this.context.budget.open(this.handshake.caller.accountId);
    try {
      this.share.growTo(this.arrivingBytes);
    } catch (error) {
      this.tell(AppError.from(error));
      this.close(TRY_AGAIN_LATER, 'out of memory');
    }
  }

  private onMessage(data: Buffer, isBinary: boolean): void {
    const { share } = this;
    this.share = undefined;
    this.arrivingBytes = 0;
    if (isBinary) return this.close(UNSUPPORTED_DATA, 'messages must be text');
    this.unread += 1;
    if (this.unread > MAX_UNREAD) this.socket.pause();
    this.reading = this.readAfter(this.reading, data, share);
  }

  /** Messages are read in their order. */
  private async readAfter(previous: Promise<void>, data: Buffer, share: BodyShare | undefined): Promise<void> {
    await previous;
    try {
      if (!this.isClosed) await this.read(data);
    } catch (error) {
      this.crash(error);
    } finally {
      share?.release();
      this.unread -= 1;
      if (this.socket.isPaused && this.unread <= MAX_UNREAD) this.socket.resume();
    }
  }

  private async read(data: Buffer): Promise<void> {
    const refusal = this.isExpired ? new ConnectionExpired(this.context.timings.socketMs) : undefined;
    const mayStore = this.handshake.caller.storesResponses;
    const reader = this.session.message({ id: newId('req', Date.now()), mayStore, refusal });
    await this.context.bodies.readAhead(reader, data);
    if (!this.isClosed) this.apply(reader.end(data));
  }

  private apply(actions: readonly SocketAction[]): void {
    for (const action of actions) {
      if (action.type === 'send') this.send(action.text);
      else void this.run(action).catch((error: unknown) => this.crash(error));
    }
    this.context.onChange(this);
  }

  private async run(action: Extract<SocketAction, { readonly turn: SocketTurn }>): Promise<void> {
    const { turn, body } = action;
    const { calls } = this.context;
    let isReported = false;
    let next: (() => readonly SocketAction[]) | undefined;
    let failure: AppError | undefined;
    try {
      if (action.type === 'warm_up') {
        const call = await calls.check(this.handshake, { id: turn.id, body });
        next = () => this.session.warmedUp(turn, call);
      } else {
        const request = { id: turn.id, body, sockets: this.upstreams.forCall(turn.streamId, action.continuation) };
        failure = await calls.run(this.handshake, request, (reply) => this.deliver(turn, reply));
        isReported = failure !== undefined;
      }
    } catch (thrown) {
      failure = AppError.from(thrown);
      if (!(thrown instanceof AppError)) this.logger.error({ err: thrown, request_id: turn.id }, 'A call failed.');
    }
    if (this.isClosed) return;
    if (failure !== undefined) this.apply(this.session.failed(turn, failure, isReported));
    else this.apply(next?.() ?? this.session.completed(turn));
    if (failure instanceof RefusedCaller || failure?.kind === 'invalid_token')
      return this.close(POLICY_VIOLATION, 'the API key is not usable');
    this.closeIfDone();
  }

  /**
   * Writes a response: the only subscriber of its frames. Resolves when it was sent or the client has left, with the
   * error that was reported at its end.
   * @throws AppError when it failed before anything was written
   */
  private deliver(turn: SocketTurn, { frames, ...reply }: OutgoingReply): Promise<AppError | undefined> {
    const { flow } = reply.facts;
    const splitter = new SseSplitter();
    let isBegun = false;
    const write = (bytes: Uint8Array): void => {
      if (bytes.length === 0) return;
      if (!isBegun) reply.facts.serverTiming();
      isBegun = true;
      for (const event of splitter.next(bytes)) {
        const data = this.session.event(turn, event);
        if (data !== undefined) this.send(data, flow);
      }
    };
    return new Promise((resolve, reject) => {
      let subscription: Subscription | undefined;
      const leave = (): void => {
        subscription?.unsubscribe();
        resolve(undefined);
      };
      const end = (settle: () => void): void => {
        this.leaving.delete(leave);
        this.held.delete(flow);
        void this.flushed().then(settle);
      };
      // Errors in here would be lost in RxJS, and the client would wait.
      const guarded = (work: () => void): void => {
        try {
          work();
        } catch (error) {
          this.crash(error);
        }
      };
      this.leaving.add(leave);
      subscription = frames.subscribe({
        next: ({ bytes }) => guarded(() => write(bytes)),
        error: (thrown: unknown) =>
          guarded(() => {
            const error = AppError.from(thrown);
            if (!isBegun) return end(() => reject(error));
            write(failureBytes(reply, error, true));
            end(() => resolve(error));
          }),
        complete: () => end(() => resolve(undefined)),
      });
      if (this.isClosed) leave();
    });
  }

  /** @param flow held while the socket is full */
  private send(data: string | Uint8Array, flow?: Flow): void {
    if (this.socket.readyState !== this.socket.OPEN) return;
    this.socket.send(data, { binary: false });
    if (!this.raw.writableNeedDrain) return;
    this.raw.setTimeout(this.context.timings.stalledClientMs);
    if (flow === undefined) return;
    this.held.add(flow);
    flow.hold('client');
  }

  private onDrain(): void {
    this.raw.setTimeout(0);
    const flows = [...this.held];
    this.held.clear();
    for (const flow of flows) flow.release('client');
  }

  private async flushed(): Promise<void> {
    if (this.isClosed || !this.raw.writableNeedDrain) return;
    await new Promise<void>((resolve) => this.raw.once('drain', resolve).once('close', resolve));
  }

  private tell(error: AppError): void {
    this.send(this.session.errorText(error, newId('req', Date.now())));
  }

  private closeIfDone(): void {
    if (this.isBusy) return;
    if (this.isDraining) this.close(GOING_AWAY, 'the server is shutting down');
    else if (this.isExpired) this.expire();
  }

  private close(code: number, reason: string): void {
    this.socket.close(code, reason);
  }

  /** A bug ends one connection, not the process. */
  private crash(error: unknown): void {
    this.logger.error({ err: error, request_id: this.requestId }, 'A WebSocket failed.');
    this.close(INTERNAL_ERROR, 'internal error');
    this.socket.terminate();
  }

  private onClosed(code: number): void {
    this.isClosed = true;
    this.share?.release();
    for (const leave of this.leaving) leave();
    this.leaving.clear();
    this.held.clear();
    this.upstreams.close();
    this.context.onClose(this);
    this.logger.log({
      request_id: this.requestId,
      key_id: this.handshake.caller.keyId,
      close_code: code,
      duration_ms: Math.round(monotonicMs() - this.openedMs),
    });
  }
}

const MINUTE_MS = 60_000;

/** On this code, clients connect again and send the whole conversation. */
class ConnectionExpired extends AppError {
  constructor(maxMs: number) {
    super(
      'invalid_request',
      `This connection has reached its limit of ${Math.ceil(maxMs / MINUTE_MS)} minutes. Connect again to continue.`,
      { fault: 'websocket_connection_limit_reached' },
    );
  }
}
