import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join, resolve } from 'node:path';
import { removeDataDir, temporaryDataDir } from './temporary-data-dir.js';

const SCRIPTS = resolve(import.meta.dirname, '../../scripts');

/** The program as a person runs it: its own process, its own data folder, the embedded database. */
export class Service {
  output = '';

  private constructor(
    readonly dataDir: string,
    readonly wrapper: ChildProcess,
  ) {
    for (const stream of [wrapper.stdout, wrapper.stderr])
      stream?.on('data', (chunk: Buffer) => (this.output += chunk.toString()));
  }

  /** Starts `npm start` on a free port and waits until it says where it is. */
  static async start(dataDir?: string, environment: Record<string, string> = {}): Promise<Service> {
    const folder = dataDir ?? temporaryDataDir();
    const wrapper = spawn(process.execPath, [join(SCRIPTS, 'start.mjs')], {
      env: { PATH: process.env['PATH'], HOME: folder, DATA_DIR: folder, PORT: '0', ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const service = new Service(folder, wrapper);
    await service.untilPrinted(/Switchboard is at (\S+)/);
    return service;
  }

  /** `http://127.0.0.1:PORT`, as the terminal shows it. */
  get address(): string {
    return /Switchboard is at (\S+)/.exec(this.output)?.[1] ?? '';
  }

  async untilPrinted(pattern: RegExp, withinMs = 60_000): Promise<void> {
    const deadline = performance.now() + withinMs;
    while (!pattern.test(this.output)) {
      if (this.wrapper.exitCode !== null || performance.now() > deadline)
        throw new Error(`Not printed: ${pattern}\n${this.output}`);
      await new Promise((done) => setTimeout(done, 20));
    }
  }

  /** Runs `switchboard …` against the same data folder. */
  async command(...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
    const child = spawn(process.execPath, [join(SCRIPTS, 'switchboard.mjs'), ...args], {
      env: { PATH: process.env['PATH'], HOME: this.dataDir, DATA_DIR: this.dataDir },
    });
    const [stdout, stderr] = [child.stdout, child.stderr].map((stream) => {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      return chunks;
    });
    await once(child, 'close');
    return {
      code: child.exitCode ?? -1,
      stdout: Buffer.concat(stdout ?? []).toString(),
      stderr: Buffer.concat(stderr ?? []).toString(),
    };
  }

  /** Ends the wrapper with a signal and gives its exit code, or null when the signal killed it. */
  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> {
    if (this.wrapper.exitCode !== null || this.wrapper.signalCode !== null) return this.wrapper.exitCode;
    const exited = once(this.wrapper, 'exit');
    this.wrapper.kill(signal);
    await exited;
    return this.wrapper.exitCode;
  }

  async remove(): Promise<void> {
    await this.stop();
    removeDataDir(this.dataDir);
  }
}
