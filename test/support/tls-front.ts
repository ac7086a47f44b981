/** TLS before a plain upstream, under a certificate that only those accept who were told of its authority. */

import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type AddressInfo, connect } from 'node:net';
import { join } from 'node:path';
import { createServer, type Server } from 'node:tls';

const FIXTURES = join(import.meta.dirname, '../fixtures/tls');

/** What NODE_EXTRA_CA_CERTS names for this certificate to be accepted. */
export const AUTHORITY_FILE = join(FIXTURES, 'ca.pem');
/** The name that the certificate is for, and all below it. Nobody resolves it. */
export const NAME = 'upstream.test';

export class TlsFront {
  private constructor(
    private readonly server: Server,
    readonly port: number,
  ) {}

  /** @param origin where the plain upstream is */
  static async start(origin: string): Promise<TlsFront> {
    const [key, cert] = ['upstream.key', 'upstream.pem'].map((name) => readFileSync(join(FIXTURES, name)));
    const { port, hostname } = new URL(origin);
    const server = createServer({ key: key!, cert: cert! }, (secure) => {
      const plain = connect(Number(port), hostname);
      for (const [from, to] of [
        [secure, plain],
        [plain, secure],
      ] as const)
        from.on('error', () => to.destroy()).once('close', () => to.destroy());
      secure.pipe(plain).pipe(secure);
    });
    server.on('tlsClientError', () => undefined).listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new TlsFront(server, (server.address() as AddressInfo).port);
  }

  close(): void {
    this.server.close();
  }
}
