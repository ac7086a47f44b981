import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { findProgram } from './debian-programs.js';
import { eventually } from './eventually.js';
import { freePort } from './ports.js';

/** A real Redis on a port of its own, in memory only. */
export class RedisServer {
  private process: ChildProcess | undefined;

  private constructor(private readonly port: number) {}

  static async start(): Promise<RedisServer> {
    const server = new RedisServer(await freePort());
    await server.resume();
    return server;
  }

  /** As REDIS_URL takes it; the same after `stop` and `resume`. */
  get url(): string {
    return `redis://127.0.0.1:${this.port}`;
  }

  /** Starts it again, empty. */
  async resume(): Promise<void> {
    const options = ['--port', String(this.port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'];
    this.process = spawn(findProgram('redis-server'), options, { stdio: 'ignore', cwd: '/' });
    await eventually(() => answers(this.port));
  }

  /** At once, as if its machine had died. */
  async stop(): Promise<void> {
    const { process } = this;
    this.process = undefined;
    if (process === undefined || process.exitCode !== null) return;
    const ended = once(process, 'exit');
    process.kill('SIGKILL');
    await ended;
  }

  /** Connections stay open and nothing answers any more, until `thaw`. */
  freeze(): void {
    this.process?.kill('SIGSTOP');
  }

  thaw(): void {
    this.process?.kill('SIGCONT');
  }
}

/** Resolves when something accepts connections there. @throws otherwise */
async function answers(port: number): Promise<void> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
  } finally {
    socket.destroy();
  }
}
