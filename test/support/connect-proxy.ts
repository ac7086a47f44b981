/** A small proxy of the kind that companies put before the open network: it knows CONNECT and nothing else. */

import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';

export interface ConnectRequest {
  /** `host:port`, as it was asked for. */
  readonly authority: string;
  readonly authorization: string | undefined;
}

export class ConnectProxy {
  readonly asked: ConnectRequest[] = [];
  /** What it answers: 200 makes a tunnel; nothing, and it stays silent. */
  status: number | undefined = 200;
  readonly #sockets = new Set<Socket>();

  private constructor(
    private readonly server: Server,
    private readonly port: number,
  ) {}

  /** @param port of this machine, to which every name leads */
  static async start(port: number): Promise<ConnectProxy> {
    const server = createServer((_, response) => response.writeHead(405).end());
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const proxy = new ConnectProxy(server, (server.address() as AddressInfo).port);
    server.on('connect', ({ url = '', headers }, client: Socket) => {
      proxy.asked.push({ authority: url, authorization: headers['proxy-authorization'] });
      proxy.#keep(client);
      if (proxy.status === 200) proxy.#join(client, port);
      else if (proxy.status !== undefined) client.end(`HTTP/1.1 ${proxy.status} No\r\ncontent-length: 0\r\n\r\n`);
    });
    return proxy;
  }

  /** As HTTPS_PROXY names it. */
  get url(): string {
    return `http://user:p%40ss@127.0.0.1:${this.port}`;
  }

  close(): void {
    this.server.close();
    for (const socket of this.#sockets) socket.destroy();
  }

  #join(client: Socket, port: number): void {
    const upstream = connect(port, '127.0.0.1', () => {
      client.write('HTTP/1.1 200 Connection established\r\n\r\n');
      client.pipe(upstream).pipe(client);
    });
    this.#keep(upstream);
    client.once('close', () => upstream.destroy());
    upstream.once('close', () => client.destroy());
  }

  #keep(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on('error', () => undefined).once('close', () => this.#sockets.delete(socket));
  }
}
