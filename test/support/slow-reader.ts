import { connect, type Socket } from 'node:net';

const STEP_MS = 250;

/** A client that takes its answer slowly: a bare socket, since every HTTP client would read ahead. */
export class SlowReader {
  /** Bytes of the answer that were taken, its head included. */
  taken = 0;
  private readonly socket: Socket;
  private readonly timer: NodeJS.Timeout;

  constructor(url: string, key: string, body: string, bytesPerSecond: number) {
    const { hostname, port, host, pathname } = new URL(url);
    this.socket = connect({ host: hostname, port: Number(port) });
    this.socket.on('error', () => undefined);
    this.socket.write(
      `POST ${pathname} HTTP/1.1\r\nhost: ${host}\r\nauthorization: Bearer ${key}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    );
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
