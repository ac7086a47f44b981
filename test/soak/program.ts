/** The program of a soak, as it is shipped: its own processes, its own embedded PostgreSQL, a Redis beside it. */

import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually, TIMEOUT_MS } from '../support/eventually.js';
import { freePort } from '../support/ports.js';
import { RedisServer } from '../support/redis-server.js';
import { Service } from '../support/service.js';

const EMAIL = 'admin@switchboard.internal';

export class Program {
  private constructor(
    private service: Service,
    readonly redis: RedisServer,
    private readonly environment: Record<string, string>,
    readonly key: string,
  ) {}

  static async start(workers: number, catalog: string): Promise<Program> {
    const redis = await RedisServer.start();
    // The same after it was started again.
    const port = String(await freePort());
    const environment = { PORT: port, WORKERS: String(workers), REDIS_URL: redis.url, DEMO: 'off', LOG_LEVEL: 'warn' };
    const service = await Service.start(undefined, environment);
    const program = new Program(service, redis, environment, '');
    const file = join(service.dataDir, 'catalog.yaml');
    writeFileSync(file, catalog);
    await program.command('catalog', 'apply', file);
    await program.command('account', 'credit', '--email', EMAIL, '--amount', '1000000', '--reason', 'for a soak');
    const key = (await program.command('key', 'create', '--email', EMAIL, '--name', 'soak')).trim();
    return new Program(service, redis, environment, key);
  }

  get address(): string {
    return this.service.address;
  }

  /** What it logged as an error, and said of its own end. */
  get errors(): readonly string[] {
    return this.service.errors;
  }

  /** @returns what it printed @throws when it was refused */
  async command(...args: string[]): Promise<string> {
    const { code, stdout, stderr } = await this.service.command(...args);
    if (code !== 0) throw new Error(`switchboard ${args.join(' ')}: ${stdout}${stderr}`);
    return stdout;
  }

  /** Asks it to end, and starts it again where it was. @returns the exit code */
  async restart(): Promise<number | null> {
    const code = await this.service.stop();
    this.service = await Service.start(this.service.dataDir, this.environment);
    return code;
  }

  /** Kills PostgreSQL as often as it comes back, for so long, and waits until it answers again. */
  async loseDatabase(forMs: number): Promise<void> {
    for (const until = performance.now() + forMs; performance.now() < until; await sleep(50)) {
      const { postgresPid } = this.service;
      if (Number.isFinite(postgresPid)) killIfThere(postgresPid);
    }
    await eventually(() => this.query('SELECT 1'), TIMEOUT_MS);
    await eventually(async () => {
      if (!(await fetch(`${this.address}/readyz`)).ok) throw new Error('It is not ready again.');
    }, TIMEOUT_MS);
  }

  /** Resident memory of all its processes together, PostgreSQL's apart, in bytes; undefined while there are none. */
  get memory(): number | undefined {
    try {
      const { relayPid } = this.service;
      return [relayPid, ...workersOf(relayPid)].reduce((sum, pid) => sum + residentBytes(pid), 0);
    } catch {
      return undefined;
    }
  }

  query<Row>(text: string, values?: unknown[]): Promise<Row[]> {
    return this.service.query(text, values);
  }

  async close(): Promise<void> {
    await this.service.remove();
    await this.redis.stop();
  }
}

function killIfThere(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has gone already.
  }
}

/** The processes that a primary has started and that serve; its database is another program. */
function workersOf(pid: number): number[] {
  return readdirSync(`/proc/${pid}/task`)
    .flatMap((thread) => readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8').trim().split(' '))
    .filter((child) => child !== '' && readFileSync(`/proc/${child}/cmdline`, 'utf8').includes('main.js'))
    .map(Number);
}

const residentBytes = (pid: number): number =>
  Number(/VmRSS:\s*(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) * 1024;
