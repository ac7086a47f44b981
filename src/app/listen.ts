import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { once } from 'node:events';
import type { Server } from 'node:http';
import { type AddressInfo, createServer, type ListenOptions, type Server as SocketServer } from 'node:net';
import type { Config } from '../platform/config/index.js';
import { codeOf } from '../platform/shared/index.js';
import { isWorker } from '../platform/workers/index.js';

/**
 * Sockets that listen on the port. Each accepts one connection per turn of the event loop: with a single one, the last of
 * 400 clients that connect to a busy process would wait for 400 turns, some seconds.
 */
const SOCKETS = 64;

/** @throws when the port is not available; the application is closed first */
export async function listen(app: NestFastifyApplication, { port, host }: Config): Promise<void> {
  try {
    if (isWorker) {
      // A worker gets the port from its primary, which does nothing else, and would wait forever for a dead one.
      await Promise.race([app.listen(port, host), once(process, 'disconnect')]);
    } else if (process.platform === 'linux') {
      await listenOnAll(app, port, host);
    } else {
      // Elsewhere, sockets do not share the connections of a port.
      await app.listen(port, host);
    }
  } catch (error) {
    await app.close();
    if (codeOf(error) !== 'EADDRINUSE') throw error;
    throw new Error(
      `Port ${port} of ${host} is already in use. Set PORT to a free port, or stop the process that uses it.`,
      { cause: error },
    );
  }
}

async function listenOnAll(app: NestFastifyApplication, port: number, host: string): Promise<void> {
  const claim = port === 0 ? undefined : await claimPort(port, host);
  // Fastify passes it on to Node, and its types do not say so.
  const options = { port, host, reusePort: true };
  await app.listen(options);
  const server = app.getHttpServer();
  const others = await shareConnections(server, SOCKETS - 1);
  otherSockets.set(server, others);
  server.once('close', () => {
    for (const other of others) other.close();
    claim?.close();
  });
}

/** The other sockets of a server that listens on several. */
const otherSockets = new WeakMap<Server, readonly SocketServer[]>();

/** Refuses new connections; open ones stay, unless they are idle. */
export function stopListening(server: Server): void {
  for (const other of otherSockets.get(server) ?? []) other.close();
  server.close();
}

/**
 * Any process of the same user could share the port too. Against other programs, the port must be free; against another
 * Switchboard, which may start at the same time, a name is taken that ends with this process.
 */
async function claimPort(port: number, host: string): Promise<SocketServer> {
  const claim = await listening({ path: `\0switchboard ${host} ${port}` });
  const probe = await listening({ port, host, exclusive: true });
  await once(probe.close(), 'close');
  return claim;
}

async function listening(options: ListenOptions): Promise<SocketServer> {
  const server = createServer();
  await once(server.listen(options), 'listening');
  return server;
}

/** Accepts connections for a server that listens with `reusePort`, through more sockets on its port. */
export async function shareConnections(server: Server, count: number): Promise<readonly SocketServer[]> {
  const { port, address: host } = server.address() as AddressInfo;
  const others = Array.from({ length: count }, () =>
    // As the sockets of an HTTP server are made.
    createServer({ allowHalfOpen: true, noDelay: true }, (socket) =>
      server.listening ? server.emit('connection', socket) : socket.destroy(),
    ),
  );
  await Promise.all(others.map((other) => once(other.listen({ port, host, reusePort: true }), 'listening')));
  return others;
}
