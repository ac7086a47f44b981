import { Injectable } from '@nestjs/common';
import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Interruption } from '../protocols/contract/index.js';
import type { Caller } from '../keys/index.js';
import type { AppError } from '../platform/shared/index.js';
import { CutOff } from './relay.errors.js';

interface RunningCall {
  readonly caller: Caller;
  readonly interruption: Interruption;
}

/**
 * Whether this process still takes calls, what it is answering, and how that is ended. Serving → draining (new calls are
 * refused, running ones go on) → over (whatever still runs errs).
 */
@Injectable()
export class RunState {
  private readonly answering = new Set<ServerResponse>();
  /** How many requests of a connection are being answered: clients may send the next before they have an answer. */
  private readonly requestsOn = new WeakMap<Socket, number>();
  /** Connections that have had an answer and wait for another request. */
  private readonly idle = new Set<Socket>();
  /** By the ids of the calls. */
  private readonly calls = new Map<string, RunningCall>();
  private isDraining = false;
  private isOver = false;

  get draining(): boolean {
    return this.isDraining;
  }

  /** How many requests are being answered. */
  get running(): number {
    return this.answering.size;
  }

  /** How many calls are running. */
  get runningCalls(): number {
    return this.calls.size;
  }

  /** For the server, before it listens. */
  watch(server: Server): void {
    server.on('connection', (socket: Socket) => socket.once('close', () => this.idle.delete(socket)));
  }

  /** Counts a request as running until the system has taken its answer, or its client has left. */
  track(socket: Socket, response: ServerResponse): void {
    this.idle.delete(socket);
    this.answering.add(response);
    this.requestsOn.set(socket, (this.requestsOn.get(socket) ?? 0) + 1);
    if (this.isDraining) lastOfItsConnection(response);
    response.once('close', () => {
      this.answering.delete(response);
      const others = (this.requestsOn.get(socket) ?? 1) - 1;
      this.requestsOn.set(socket, others);
      if (socket.destroyed || others > 0) return;
      if (this.isDraining) socket.destroySoon();
      else this.idle.add(socket);
    });
  }

  /** A call runs from here on. It is told when it has to end: because the process does, its key may not, or by a fault. */
  begin(callId: string, caller: Caller): Interruption {
    const interruption = new Interruption();
    if (this.isOver) interruption.interrupt(new CutOff());
    this.calls.set(callId, { caller, interruption });
    return interruption;
  }

  end(callId: string): void {
    this.calls.delete(callId);
  }

  /** Ends one call. @returns whether it fails by this error now, and so logs it */
  fail(callId: string, error: AppError): boolean {
    return this.calls.get(callId)?.interruption.interrupt(error) ?? false;
  }

  /** The ids of the keys that have running calls, of callers that fit. */
  keysWhere(fits: (caller: Caller) => boolean): readonly string[] {
    const keyIds = new Set<string>();
    for (const { caller } of this.calls.values()) if (fits(caller)) keyIds.add(caller.keyId);
    return [...keyIds];
  }

  /** Ends every running call of a key. */
  failKey(keyId: string, error: AppError): void {
    for (const { caller, interruption } of this.calls.values())
      if (caller.keyId === keyId) interruption.interrupt(error);
  }

  /** From now on not ready, and every connection closes behind its answer. Resolves when what runs now has ended. */
  drain(): Promise<void> {
    this.isDraining = true;
    for (const socket of this.idle) socket.destroySoon();
    for (const response of this.answering) lastOfItsConnection(response);
    return this.answered();
  }

  /** Ends every call that still runs. Resolves when their clients have taken what there is to say. */
  cutOff(): Promise<void> {
    this.isOver = true;
    for (const { interruption } of this.calls.values()) interruption.interrupt(new CutOff());
    return this.answered();
  }

  /** Resolves when what is being answered now has ended; what comes later is not waited for. */
  async answered(): Promise<void> {
    const closed = (response: ServerResponse): Promise<void> =>
      new Promise((resolve) => response.once('close', resolve));
    await Promise.all(Array.from(this.answering, closed));
  }
}

/** Where the head has gone out already, the connection is closed behind the answer all the same. */
function lastOfItsConnection(response: ServerResponse): void {
  if (!response.headersSent) response.setHeader('connection', 'close');
}
