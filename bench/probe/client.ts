// Asks the probe inside a measured program.
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Extras } from '../subjects/subject.ts';

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
  private readonly path = join(mkdtempSync(join(tmpdir(), 'switchboard-probe-')), 'socket');

  /** What a program is started with so that it answers here. */
  static extras(): Extras {
    const probe = new ProbeClient();
    const preload = pathToFileURL(join(import.meta.dirname, 'preload.ts')).href;
    return { nodeOptions: ['--expose-gc', '--import', preload], environment: { BENCH_PROBE: probe.path }, probe };
  }

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
