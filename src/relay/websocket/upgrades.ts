import { type IncomingMessage, type Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import * as protocolModules from '../../protocols/index.js';
import { adaptersIn } from '../adapter.registry.js';
import { asksForWebSocket, canonicalPath } from '../call-context.js';

// WebSocket handshakes pass all hooks and guards as requests, so that they fail with the same errors.

const socketPaths: ReadonlySet<string> = new Set(
  [...adaptersIn(Object.values(protocolModules)).protocols.values()].flatMap(({ socket }) => socket?.path ?? []),
);

/** A connection that HTTP has left. */
export interface Upgrade {
  readonly socket: Socket;
  /** Bytes that followed the handshake. */
  readonly head: Buffer;
}

const upgrades = new WeakMap<IncomingMessage, Upgrade>();

/** The connection of a handshake; undefined for other requests. */
export const upgradeOf = (request: IncomingMessage): Upgrade | undefined => upgrades.get(request);

/** Whether a request is a handshake. Other upgrade offers are ignored, as the standard allows. */
export function isHandshake({ url = '/', method = 'GET', headers }: IncomingMessage): boolean {
  if (method !== 'GET' || !asksForWebSocket(headers)) return false;
  return socketPaths.has(canonicalPath(url, method, headers).split('?', 1)[0] ?? '');
}

/** Serves handshakes like other requests. Requires `isHandshake` as the server's `shouldUpgradeCallback`. */
export function serveHandshakes(server: Server): void {
  server.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => {
    const response = new ServerResponse(request);
    // Nothing reads further requests from this connection.
    response.shouldKeepAlive = false;
    response.assignSocket(socket);
    response.once('finish', () => socket.destroySoon());
    socket.on('error', () => socket.destroy());
    upgrades.set(request, { socket, head });
    server.emit('request', request, response);
  });
}
