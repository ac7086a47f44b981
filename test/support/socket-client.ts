import { once } from 'node:events';
import { WebSocket } from 'ws';
import { eventually } from './eventually.js';
import type { JsonObject } from './scripted-steps.js';

const ENDINGS: ReadonlySet<unknown> = new Set(['response.completed', 'response.failed', 'error']);

/** A client of `/v1/responses` over WebSocket that keeps every message. */
export class SocketClient {
  readonly messages: JsonObject[] = [];
  /** Code and reason, once it is closed. */
  closed: { readonly code: number; readonly reason: string } | undefined;

  private constructor(readonly socket: WebSocket) {
    socket.on('message', (data, isBinary) => {
      if (isBinary) throw new TypeError('A message is binary.');
      this.messages.push(JSON.parse((data as Buffer).toString()) as JsonObject);
    });
    socket.on('close', (code, reason) => (this.closed = { code, reason: String(reason) }));
    socket.on('error', () => undefined);
  }

  /** @throws Error with the status when the handshake is refused */
  static async open(url: string, key: string, headers: Record<string, string> = {}): Promise<SocketClient> {
    const socket = new WebSocket(`${url.replace(/^http/, 'ws')}/v1/responses`, {
      headers: { authorization: `Bearer ${key}`, 'openai-beta': 'responses_websockets=2026-02-06', ...headers },
    });
    const client = new SocketClient(socket);
    await new Promise<void>((resolve, reject) => {
      socket.once('open', resolve).once('error', reject);
    });
    return client;
  }

  /** Sends `response.create`. */
  create(body: JsonObject): void {
    this.send({ type: 'response.create', ...body });
  }

  send(message: JsonObject): void {
    this.socket.send(JSON.stringify(message));
  }

  ofType(type: string): JsonObject[] {
    return this.messages.filter((message) => message['type'] === type);
  }

  /** The message of this type with this number, from 0. */
  async message(type: string, number = 0): Promise<JsonObject> {
    return eventually(() => {
      const found = this.ofType(type)[number];
      if (found === undefined) throw new Error(`No ${type} ${number} in ${JSON.stringify(this.messages).slice(-2000)}`);
      return found;
    });
  }

  /** Sends `response.create` and returns its response once it is complete. */
  async respond(body: JsonObject): Promise<JsonObject> {
    const number = this.ofType('response.completed').length;
    this.create(body);
    return (await this.message('response.completed', number))['response'] as JsonObject;
  }

  /** The first `response.completed`, `response.failed` or `error` from this place on. */
  async ending(from: number): Promise<JsonObject> {
    return eventually(() => {
      const found = this.messages.slice(from).find(({ type }) => ENDINGS.has(type));
      if (found === undefined) throw new Error(`No end in ${JSON.stringify(this.messages.slice(from)).slice(-2000)}`);
      return found;
    });
  }

  async close(): Promise<void> {
    if (this.closed !== undefined) return;
    this.socket.close();
    await once(this.socket, 'close');
  }
}

/** Opens clients that are closed after each test. */
export function socketClients(
  target: () => { readonly url: string; readonly key: string },
): (headers?: Record<string, string>) => Promise<SocketClient> {
  const clients: SocketClient[] = [];
  afterEach(async () => {
    await Promise.all(clients.splice(0).map((client) => client.close()));
  });
  return async (headers = {}) => {
    const { url, key } = target();
    const client = await SocketClient.open(url, key, headers);
    clients.push(client);
    return client;
  };
}
