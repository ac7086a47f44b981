import { createServer, type Server } from 'node:http';
import { once } from 'node:events';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { shareConnections } from './listen.js';

const CLIENTS = 64;

// Elsewhere, sockets do not share the connections of a port.
(process.platform === 'linux' ? describe : describe.skip)('a server that listens on several sockets', () => {
  let server: Server;
  let others: readonly { close(): unknown }[];
  let port: number;
  let clients: Socket[];

  const connectAll = (): void => {
    clients = Array.from({ length: CLIENTS }, () => connect(port, '127.0.0.1'));
  };

  beforeEach(async () => {
    server = createServer((_request, response) => response.end('hello'));
    await once(server.listen({ port: 0, host: '127.0.0.1', reusePort: true }), 'listening');
    ({ port } = server.address() as AddressInfo);
    others = await shareConnections(server, 15);
  });
  afterEach(async () => {
    for (const client of clients) client.destroy();
    for (const other of others) other.close();
    if (server.listening) await once(server.close(), 'close');
  });

  it('accepts many connections in one turn of the event loop', async () => {
    const accepted: Socket[] = [];
    server.on('connection', (socket) => accepted.push(socket));
    connectAll();
    // One socket would take a turn for each.
    for (let turn = 0; turn < CLIENTS / 2; turn += 1) await nextTurn();
    expect(accepted).toHaveLength(CLIENTS);
  });

  it('answers on all of them', async () => {
    connectAll();
    const responses = clients.map(async (client) => {
      client.write('GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n');
      let text = '';
      for await (const chunk of client) text += String(chunk);
      return text;
    });
    for (const response of await Promise.all(responses)) expect(response).toMatch(/^HTTP\/1\.1 200 [^]*hello/);
  });

  it('accepts no more once the server is closed', async () => {
    await once(server.close(), 'close');
    connectAll();
    const ends = clients.map((client) => {
      client.on('error', () => undefined);
      return once(client, 'close');
    });
    await Promise.all(ends);
    expect(clients.filter(({ bytesRead }) => bytesRead > 0)).toEqual([]);
  });
});
