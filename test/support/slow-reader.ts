import { connect, type Socket } from 'node:net';

const STEP_MS = 250;

interface SlowRequest {
  /** `http://127.0.0.1:PORT/v1/…` */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | string;
  readonly bytesPerSecond: number;
}

/** A client that takes its response slowly: a bare socket, since every HTTP client would read ahead. */
export class SlowReader {
  /** Bytes of the response that were taken, its head included. */
  taken = 0;
  /** Resolves when something of the response is there. Rejects when the connection fails before; may be ignored. */
  readonly begun: Promise<void>;
  private readonly socket: Socket;
  private readonly timer: NodeJS.Timeout;

  constructor({ url, headers, body, bytesPerSecond }: SlowRequest) {
    const { hostname, port, host, pathname } = new URL(url);
    this.socket = connect({ host: hostname, port: Number(port) });
    this.begun = new Promise((resolve, reject) => {
      this.socket.once('readable', resolve);
      this.socket.on('error', reject);
    });
    this.begun.catch(() => undefined);
    const lines = Object.entries({ host, 'content-length': Buffer.byteLength(body), ...headers });
    this.socket.write(
      `POST ${pathname} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`,
    );
    this.socket.write(body);
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
