/** The WebSocket mode of the vendor, as a fake: written from its documentation, beside the HTTP of `ScriptedUpstream`. */

import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import { eventually } from './eventually.js';
import { eventsIn } from './scripted-upstream.js';
import type { JsonObject, ScriptedEvent } from './scripted-steps.js';

/** One connection and what it received. */
export class UpstreamConnection {
  readonly messages: JsonObject[] = [];
  pings = 0;
  /** The code of its end. */
  closed: number | undefined;

  constructor(
    readonly socket: WebSocket,
    readonly headers: IncomingMessage['headers'],
    readonly path: string,
  ) {
    socket.on('close', (code) => (this.closed = code)).on('error', () => undefined);
    socket.on('ping', () => (this.pings += 1));
  }

  /** Strings are sent as they are. */
  readonly send = (...events: readonly (JsonObject | string)[]): void => {
    for (const event of events) this.socket.send(typeof event === 'string' ? event : JSON.stringify(event));
  };
}

export type SocketScript = (message: JsonObject, connection: UpstreamConnection) => void;

/** Data of the events of a response. */
export const messagesOf = (events: readonly ScriptedEvent[]): JsonObject[] =>
  events.flatMap(({ data }) => (typeof data === 'string' ? [] : [data]));

/** A complete response. */
export const respondWith =
  (options: Parameters<typeof eventsIn>[1] = {}): SocketScript =>
  (_, connection) =>
    connection.send(...messagesOf(eventsIn('responses', options)));

/** An error message as the vendor sends it. */
export const rejectWith =
  (status: number, error: JsonObject, headers: JsonObject = {}): SocketScript =>
  (_, connection) =>
    connection.send({ type: 'error', status, error, headers });

/** Takes the WebSockets of a server. */
export class ScriptedSockets {
  readonly connections: UpstreamConnection[] = [];
  /** Status of refused handshakes; undefined: none is refused. */
  refusal: number | undefined;
  /** Paths of all handshakes. */
  readonly handshakes: string[] = [];
  #script: SocketScript = respondWith();
  #once: SocketScript[] = [];
  readonly #sockets = new WebSocketServer({ noServer: true });

  /** @param server serves all other requests */
  constructor(server: Server) {
    server.on('upgrade', (request, socket, head) => this.#upgrade(request, socket, head));
  }

  get messages(): JsonObject[] {
    return this.connections.flatMap(({ messages }) => messages);
  }

  /** Answers every message from now on, except the next ones that have a script of their own. */
  script(script: SocketScript, ...next: readonly SocketScript[]): void {
    this.#script = script;
    this.#once = [...next];
  }

  /** The connection with this number, from 0. */
  connection(number = 0): Promise<UpstreamConnection> {
    return eventually(() => {
      const connection = this.connections[number];
      if (connection === undefined) throw new Error(`Only ${this.connections.length} connections were opened.`);
      return connection;
    });
  }

  reset(): void {
    for (const { socket } of this.connections.splice(0)) socket.terminate();
    this.handshakes.length = 0;
    this.refusal = undefined;
    this.script(respondWith());
  }

  #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    this.handshakes.push(request.url ?? '');
    if (this.refusal !== undefined) {
      socket.end(`HTTP/1.1 ${this.refusal} No\r\ncontent-length: 0\r\nconnection: close\r\n\r\n`);
      return;
    }
    this.#sockets.handleUpgrade(request, socket, head, (webSocket) => {
      const connection = new UpstreamConnection(webSocket, request.headers, request.url ?? '');
      this.connections.push(connection);
      webSocket.on('message', (data) => {
        const message = JSON.parse((data as Buffer).toString()) as JsonObject;
        connection.messages.push(message);
        (this.#once.shift() ?? this.#script)(message, connection);
      });
    });
  }
}
