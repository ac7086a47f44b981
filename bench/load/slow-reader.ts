// A client that takes its answer slowly: a bare socket, since every HTTP client would read ahead.
import { connect, type Socket } from 'node:net';
import type { Target } from './jobs.ts';

const STEP_MS = 250;

export class SlowReader {
  private readonly socket: Socket;
  private readonly timer: NodeJS.Timeout;
  /** Bytes of the answer that were taken, its head included. */
  taken = 0;
  readonly begun: Promise<void>;

  constructor({ origin, headers }: Target, path: string, body: Buffer, bytesPerSecond: number) {
    const { hostname, port, host } = new URL(origin);
    this.socket = connect({ host: hostname, port: Number(port) });
    const lines = Object.entries({
      host,
      'content-type': 'application/json',
      'content-length': body.length,
      ...headers,
    });
    this.socket.write(`POST ${path} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`);
    this.socket.write(body);
    this.begun = new Promise((resolve, reject) => {
      this.socket.once('readable', resolve);
      this.socket.once('error', reject);
    });
    this.timer = setInterval(() => this.take((bytesPerSecond * STEP_MS) / 1000), STEP_MS);
  }

  /** Whether the far end still serves it. */
  get open(): boolean {
    return !this.socket.destroyed && !this.socket.readableEnded;
  }

  close(): void {
    clearInterval(this.timer);
    this.socket.destroy();
  }

  private take(bytes: number): void {
    const chunk = this.socket.read(Math.min(bytes, this.socket.readableLength)) as Buffer | null;
    this.taken += chunk?.length ?? 0;
  }
}
