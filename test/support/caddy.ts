import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { findProgram } from './debian-programs.js';
import { eventually } from './eventually.js';
import { freePort } from './ports.js';

const CADDYFILE = resolve(import.meta.dirname, '../../deploy/Caddyfile');

/** A real Caddy before a relay, with the file that we ship. */
export class Caddy {
  private output = '';

  private constructor(
    private readonly process: ChildProcess,
    private readonly folder: string,
    /** `http://127.0.0.1:PORT` */
    readonly url: string,
  ) {
    process.stderr?.on('data', (chunk: Buffer) => (this.output += chunk.toString()));
  }

  /** @param relayUrl where Switchboard is, with its port */
  static async start(relayUrl: string): Promise<Caddy> {
    const folder = mkdtempSync(join(tmpdir(), 'switchboard-caddy-'));
    // Without TLS: Caddy would ask an authority for the certificate.
    const url = `http://127.0.0.1:${await freePort()}`;
    const process = spawn(findProgram('caddy'), ['run', '--config', CADDYFILE, '--adapter', 'caddyfile'], {
      cwd: folder,
      env: { HOME: folder, SITE: url, UPSTREAM: new URL(relayUrl).host },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const caddy = new Caddy(process, folder, url);
    await eventually(async () => void (await fetch(`${url}/metrics`)), 20_000);
    return caddy;
  }

  /** Lines of its log above `info`. */
  get complaints(): string[] {
    return this.output.split('\n').filter((line) => /"level":"(?:warn|error|panic|fatal)"/.test(line));
  }

  async close(): Promise<void> {
    const ended = once(this.process, 'exit');
    this.process.kill('SIGTERM');
    await ended;
    rmSync(this.folder, { recursive: true, force: true });
  }
}
