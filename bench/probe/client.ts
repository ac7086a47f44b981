// Asks the probe inside a measured program.
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** In bytes, after a forced collection. */
export interface MemoryUse {
  readonly rss: number;
  readonly heapUsed: number;
  readonly external: number;
}

interface LoopDelay {
  readonly p99Ms: number;
  readonly maxMs: number;
}

export class ProbeClient {
  /** Of the socket that the program answers at. */
  readonly path = join(mkdtempSync(join(tmpdir(), 'switchboard-probe-')), 'socket');

  memory(): Promise<MemoryUse> {
    return this.ask('memory');
  }

  /** From now on the delays of the event loop are noted. */
  watch(): Promise<void> {
    return this.ask('watch');
  }

  /** How late the event loop was since `watch`. */
  delay(): Promise<LoopDelay> {
    return this.ask('delay');
  }

  remove(): void {
    rmSync(dirname(this.path), { recursive: true, force: true });
  }

  private async ask<T>(question: string): Promise<T> {
    const socket = connect(this.path);
    socket.write(question);
    let answer = '';
    socket.on('data', (chunk: Buffer) => (answer += chunk.toString()));
    await once(socket, 'end');
    return JSON.parse(answer) as T;
  }
}
