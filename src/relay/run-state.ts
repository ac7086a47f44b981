import { Injectable } from '@nestjs/common';
import { type Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Interruption } from '../protocols/contract/index.js';
import type { Caller } from '../keys/index.js';
import type { AppError } from '../platform/shared/index.js';
import type { ResponseEnd } from './call-context.js';
import { CutOff } from './relay.errors.js';

interface RegisteredCall {
  readonly caller: Caller;
  readonly interruption: Interruption;
}

/**
 * The state of this process: serving → leaving (not ready, but new calls are still accepted) → draining (new calls are
 * rejected, running ones continue) → over (remaining calls fail).
 */
@Injectable()
export class RunState {
  private readonly responses = new Set<ResponseEnd>();
  /** Requests in progress per connection: clients may pipeline. */
  private readonly requestsOn = new WeakMap<Socket, number>();
  /** Idle keep-alive connections. */
  private readonly idle = new Set<Socket>();
  /** By call ID. */
  private readonly calls = new Map<string, RegisteredCall>();
  /** Responses that run detached from their client. */
  private readonly detached = new Set<Promise<void>>();
  private readonly drainListeners: (() => void)[] = [];
  private isLeaving = false;
  private isDraining = false;
  private isOver = false;

  /** False from the first step of a shutdown on. */
  get ready(): boolean {
    return !this.isLeaving && !this.isDraining;
  }

  /** Whether new calls are rejected. */
  get draining(): boolean {
    return this.isDraining;
  }

  /** Number of requests and detached responses in progress. */
  get running(): number {
    return this.responses.size + this.detached.size;
  }

  /** Number of running calls. */
  get runningCalls(): number {
    return this.calls.size;
  }

  /** Call before the server listens. */
  watch(server: Server): void {
    server.on('connection', (socket: Socket) => socket.once('close', () => this.idle.delete(socket)));
  }

  /** Calls `listener` once new calls are rejected. */
  onDrain(listener: () => void): void {
    this.drainListeners.push(listener);
  }

  /** Counts a call that is not a request of its own, until its end. */
  trackEnd(end: ResponseEnd): void {
    this.responses.add(end);
    end.once('close', () => this.responses.delete(end));
  }

  /** The connection of a request becomes a WebSocket: it is idle no more, and the request has no response. */
  handOver(socket: Socket, response: ServerResponse): void {
    this.requestsOn.set(socket, Infinity);
    response.detachSocket(socket);
    response.emit('close');
  }

  /** Counts a request until its response was flushed or the client has left. */
  track(socket: Socket, response: ServerResponse): void {
    this.idle.delete(socket);
    this.responses.add(response);
    this.requestsOn.set(socket, (this.requestsOn.get(socket) ?? 0) + 1);
    if (!this.ready) lastOfItsConnection(response);
    response.once('close', () => {
      this.responses.delete(response);
      const others = (this.requestsOn.get(socket) ?? 1) - 1;
      this.requestsOn.set(socket, others);
      if (socket.destroyed || others > 0) return;
      if (this.isDraining) socket.destroySoon();
      else this.idle.add(socket);
    });
  }

  /**
   * Registers a call. The returned interruption signals when it must end: shutdown, revocation, or an uncaught error.
   */
  begin(callId: string, caller: Caller): Interruption {
    const interruption = new Interruption();
    if (this.isOver) interruption.interrupt(new CutOff());
    this.calls.set(callId, { caller, interruption });
    return interruption;
  }

  end(callId: string): void {
    this.calls.delete(callId);
  }

  /** Awaits a response beyond its request before the process stops. It must not fail. */
  detach(over: Promise<void>): void {
    this.detached.add(over);
    void over.then(() => this.detached.delete(over));
  }

  /** Ends a call. @returns whether this error ends it, and so is logged */
  fail(callId: string, error: AppError): boolean {
    return this.calls.get(callId)?.interruption.interrupt(error) ?? false;
  }

  /** IDs of keys with running calls of matching callers. */
  keysWhere(matches: (caller: Caller) => boolean): readonly string[] {
    const keyIds = new Set<string>();
    for (const { caller } of this.calls.values()) if (matches(caller)) keyIds.add(caller.keyId);
    return [...keyIds];
  }

  /** Ends all running calls of a key. */
  failKey(keyId: string, error: AppError): void {
    for (const { caller, interruption } of this.calls.values())
      if (caller.keyId === keyId) interruption.interrupt(error);
  }

  /** Not ready from now on; connections close after their next response, so that their clients go elsewhere. */
  leave(): void {
    this.isLeaving = true;
    for (const response of this.responses) lastOfItsConnection(response);
  }

  /** Not ready, and new calls are rejected from now on; connections close after their response. Resolves when running requests have ended. */
  drain(): Promise<void> {
    this.isDraining = true;
    for (const socket of this.idle) socket.destroySoon();
    for (const response of this.responses) lastOfItsConnection(response);
    for (const listener of this.drainListeners) listener();
    return this.responsesClosed();
  }

  /** Ends all running calls. Resolves when their clients have received the error. */
  cutOff(): Promise<void> {
    this.isOver = true;
    for (const { interruption } of this.calls.values()) interruption.interrupt(new CutOff());
    return this.responsesClosed();
  }

  /** Resolves when current requests have ended; later ones are not awaited. */
  async responsesClosed(): Promise<void> {
    const closed = (response: ResponseEnd): Promise<void> => new Promise((resolve) => response.once('close', resolve));
    await Promise.all([...Array.from(this.responses, closed), ...this.detached]);
  }
}

/** If the head was already sent, the connection is closed after the response. */
function lastOfItsConnection(response: ResponseEnd): void {
  if (response instanceof ServerResponse && !response.headersSent) response.setHeader('connection', 'close');
}
