import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/** Below the ports that systems hand to outgoing connections, so that the same one is likely free at the next start. */
const [FROM, TO] = [15_000, 30_000] as const;
const ATTEMPTS = 50;

/** A port on loopback that nobody listens on at this moment. */
export async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const port = randomInt(FROM, TO);
    if (await isFree(port)) return port;
  }
  throw new Error(`No port between ${FROM} and ${TO} is free`);
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => server.close(() => resolve(true)));
  });
}
