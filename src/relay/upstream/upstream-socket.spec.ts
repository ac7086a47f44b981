import { AsyncLocalStorage } from 'node:async_hooks';
import { EventEmitter } from 'node:events';
import type { WebSocket } from 'ws';
import type { SocketSend } from './upstream-socket.js';
import { UpstreamSocket } from './upstream-socket.js';

/** An open socket without a network. */
class OpenSocket extends EventEmitter {
  readonly OPEN = 1;
  readonly readyState = 1;
  readonly isPaused = false;
  readonly sent: string[] = [];
  isTerminated = false;

  send(message: Buffer): void {
    this.sent.push(message.toString());
  }

  terminate(): void {
    this.isTerminated = true;
  }
}

const CALL = {
  message: { pieces: () => [Buffer.from('{}')] },
  flow: { paused: false, attach: () => () => undefined },
  timeouts: { idleMs: 60_000, firstEventMs: 60_000 },
} as unknown as SocketSend;

describe('a WebSocket to an upstream', () => {
  it('fails its call in the context of the call and closes when a message cannot be read', () => {
    const unreadable = new TypeError('Cannot convert object to primitive value');
    const protocol = {
      rewriteMessage: () => {
        throw new Error('Not called.');
      },
      read: () => {
        throw unreadable;
      },
    };
    const socket = new OpenSocket();
    const upstream = new UpstreamSocket(socket as unknown as WebSocket, protocol, () => undefined);
    const context = new AsyncLocalStorage<string>();
    const failures: unknown[] = [];
    const error = (failure: unknown): unknown => failures.push([failure, context.getStore()]);

    context.run('call', () => upstream.exchange(CALL).subscribe({ error }));
    expect(socket.sent).toEqual(['{}']);
    context.run('another', () => socket.emit('message', Buffer.from('{"type":"error"}')));

    expect(failures).toEqual([[unreadable, 'call']]);
    expect([socket.isTerminated, upstream.isBusy, upstream.continuable]).toEqual([true, false, undefined]);
  });
});
