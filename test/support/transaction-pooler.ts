import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

/** How the server says "ready for query" outside of a transaction. */
const READY = Buffer.from([0x5a, 0, 0, 0, 5, 0x49]);

/**
 * A pooler in transaction mode, as simple as can be: a client signs in on a connection of its own, and from then on its
 * queries go to whichever connection was made last.
 */
export async function startTransactionPooler(url: string): Promise<{ url: string; stop(): void }> {
  const { hostname, port } = new URL(url);
  const sockets: Socket[] = [];
  let shared: Socket | undefined;
  let asking: Socket | undefined;

  const pooler = createServer((client) => {
    const own = connect(Number(port), hostname);
    let signedIn = false;
    sockets.push(client, own);
    for (const socket of [client, own]) socket.on('error', () => undefined);
    client.on('data', (bytes) => {
      const leaves = signedIn && bytes[0] === 0x58; // X: the connection stays
      if (signedIn) asking = client;
      if (!leaves) (signedIn ? shared : own)?.write(bytes);
    });
    own.on('data', (bytes) => {
      (signedIn ? asking : client)?.write(bytes);
      if (signedIn || !bytes.subarray(-READY.length).equals(READY)) return;
      signedIn = true;
      shared = own;
    });
  });
  pooler.listen(0, '127.0.0.1');
  await once(pooler, 'listening');

  const address = new URL(url);
  const bound = pooler.address();
  if (bound === null || typeof bound === 'string') throw new Error('The pooler does not listen on a port.');
  address.port = String(bound.port);
  const stop = (): void => {
    sockets.forEach((socket) => socket.destroy());
    pooler.close();
  };
  return { url: address.href, stop };
}
