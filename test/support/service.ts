import pg from 'pg';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { isServing, readPostmaster } from '../../src/platform/database/embedded/server-process.js';
import { readState } from '../../src/platform/database/embedded/state-file.js';
import { commandLine } from '../../src/platform/database/process-identity.js';
import { TIMEOUT_MS } from './eventually.js';
import { childrenOf } from './processes.js';
import { removeDataDir, temporaryDataDir } from './temporary-data-dir.js';

const CHECKOUT = resolve(import.meta.dirname, '../..');
/** Of this process, what its children need. */
const { PATH, NODE_COMPILE_CACHE } = process.env;

/** What differs from a person who types `npm start` in this checkout. */
interface ServiceOptions {
  /** Another checkout. */
  readonly checkout?: string;
  /** As somebody else; only root may. */
  readonly user?: { readonly uid: number; readonly gid: number };
  /** Through npm itself, as a person does, instead of the script that it runs. */
  readonly npm?: boolean;
}

interface CommandResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** The program as a person runs it: its own process, its own data folder, the embedded database. */
export class Service {
  output = '';
  /** Resolves when the wrapper is gone and the server too: both hold the pipes of the output. */
  readonly ended: Promise<void>;

  private constructor(
    readonly dataDir: string,
    readonly wrapper: ChildProcess,
    private readonly environment: Readonly<Record<string, string>>,
    private readonly options: ServiceOptions,
  ) {
    for (const stream of [wrapper.stdout, wrapper.stderr])
      stream?.on('data', (chunk: Buffer) => (this.output += chunk.toString()));
    this.ended = once(wrapper, 'close').then(() => undefined);
  }

  /** Starts `npm start` on a free port and waits until it says where it is. */
  static async start(
    dataDir?: string,
    environment: Record<string, string> = {},
    options: ServiceOptions = {},
  ): Promise<Service> {
    const service = Service.launch(dataDir, environment, options);
    await service.untilPrinted(/Switchboard is at (\S+)/);
    return service;
  }

  /** Starts it and does not wait. */
  static launch(
    dataDir = temporaryDataDir(),
    environment: Record<string, string> = {},
    options: ServiceOptions = {},
  ): Service {
    const { checkout = CHECKOUT, npm = false, user = {} } = options;
    const [program, args] = npm ? ['npm', ['start']] : [process.execPath, [join(checkout, 'scripts/start.mjs')]];
    const wrapper = spawn(program, args, {
      cwd: npm ? checkout : '/',
      env: { PATH, NODE_COMPILE_CACHE, HOME: dataDir, DATA_DIR: dataDir, PORT: '0', ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
      ...user,
    });
    return new Service(dataDir, wrapper, environment, options);
  }

  /** `http://127.0.0.1:PORT`, as the terminal shows it. */
  get address(): string {
    return /Switchboard is at (\S+)/.exec(this.output)?.[1] ?? '';
  }

  /** What it said of its own end, and what it logged as an error. */
  get errors(): string[] {
    return this.output.split('\n').filter((line) => /^error: |^\s+at |^\{"level":"(?:error|fatal)"/.test(line));
  }

  /** The process that the wrapper has started, whether it listens yet or not. Linux only. */
  get serverPid(): number {
    return childrenOf(this.wrapper.pid)[0] ?? Number.NaN;
  }

  /** With `WORKERS`: those that serve. Linux only. */
  get workerPids(): number[] {
    return childrenOf(this.serverPid).filter((pid) => commandLine(pid)?.includes('dist/src/main.js'));
  }

  /** The listening process, or the one that has the listening ones. */
  get relayPid(): number {
    return Number(readFileSync(join(this.dataDir, 'relay.pid'), 'utf8'));
  }

  get postgresPid(): number {
    return readState(this.dataDir)?.pid ?? Number.NaN;
  }

  /** Whether the embedded server of this data folder runs, in whatever state. */
  get databaseRuns(): boolean {
    const place = this.place;
    const found = readPostmaster(place);
    return found !== undefined && isServing(found, place);
  }

  private get place(): string {
    const isFolder = statSync(this.dataDir, { throwIfNoEntry: false })?.isDirectory() === true;
    return (isFolder ? readState(this.dataDir)?.place : undefined) ?? join(this.dataDir, 'postgres');
  }

  get hasPidFile(): boolean {
    return existsSync(join(this.dataDir, 'relay.pid'));
  }

  /** Asks the embedded database of this data folder, over a connection of its own. */
  async query<Row>(text: string, values: unknown[] = []): Promise<Row[]> {
    const { port, password } = readState(this.dataDir) ?? {};
    const client = new pg.Client({ connectionString: `postgres://postgres:${password}@127.0.0.1:${port}/postgres` });
    client.on('error', () => undefined);
    await client.connect();
    try {
      return (await client.query(text, values)).rows as Row[];
    } finally {
      await client.end();
    }
  }

  async untilPrinted(pattern: RegExp, withinMs = TIMEOUT_MS): Promise<void> {
    const deadline = performance.now() + withinMs;
    while (!pattern.test(this.output)) {
      if (this.wrapper.exitCode !== null || performance.now() > deadline)
        throw new Error(`Not printed: ${pattern}\n${this.output}`);
      await new Promise((done) => setTimeout(done, 20));
    }
  }

  /** Runs `switchboard …` against the same data folder, with the environment that the service was started with. */
  async command(...args: string[]): Promise<CommandResult> {
    const { checkout = CHECKOUT, user = {} } = this.options;
    const child = spawn(process.execPath, [join(checkout, 'scripts/switchboard.mjs'), ...args], {
      env: { PATH, NODE_COMPILE_CACHE, HOME: this.dataDir, DATA_DIR: this.dataDir, ...this.environment },
      ...user,
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

  /** After a test that failed: a server that outlived its wrapper. */
  killLeftOver(): void {
    if (this.hasPidFile && commandLine(this.relayPid)?.includes('dist/src/main.js') === true)
      process.kill(this.relayPid, 'SIGKILL');
  }

  async remove(): Promise<void> {
    await this.stop();
    this.killLeftOver();
    removeDataDir(this.dataDir);
  }
}
