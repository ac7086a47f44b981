// The measure of all things here: the least that a proxy can do. It passes bytes both ways, with back-pressure, and
// looks at none of them. A process of its own; says its port over its channel and ends with it.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Dispatcher, Pool } from 'undici';

const [upstream = ''] = process.argv.slice(2);
const pool = new Pool(upstream, { pipelining: 1, keepAliveTimeout: 30_000 });

class Exchange implements Dispatcher.DispatchHandler {
  private readonly response: ServerResponse;
  private controller: Dispatcher.DispatchController | undefined;

  constructor(response: ServerResponse) {
    this.response = response;
    response.on('drain', () => this.controller?.resume());
    response.on('close', () => {
      if (!response.writableFinished) this.controller?.abort(new Error('The client has left.'));
    });
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.controller = controller;
  }

  onResponseStart(_: unknown, status: number, headers: Record<string, string | string[] | undefined>): void {
    const { connection: _connection, 'keep-alive': _keepAlive, 'transfer-encoding': _encoding, ...rest } = headers;
    this.response.writeHead(status, rest);
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (!this.response.write(chunk)) controller.pause();
  }

  onResponseEnd(): void {
    this.response.end();
  }

  onResponseError(): void {
    this.response.destroy();
  }
}

function serve(request: IncomingMessage, response: ServerResponse): void {
  const { host: _host, connection: _connection, ...headers } = request.headers;
  pool.dispatch({ path: request.url ?? '/', method: 'POST', headers, body: request }, new Exchange(response));
}

const server = createServer({ keepAliveTimeout: 300_000 }, serve);
server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }));
process.once('disconnect', () => process.exit());
