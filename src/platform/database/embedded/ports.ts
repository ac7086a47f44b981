import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/** Below the ephemeral ports, so that the same port is likely free at the next start. */
const [FROM, TO] = [15_000, 30_000] as const;
const ATTEMPTS = 50;

/** A free port on the loopback interface. */
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
