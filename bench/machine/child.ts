// Starts the programs of a run and ends each of them again, whatever happens to the run.
import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { constants } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';

const ENDS_WITHIN_MS = 20_000;

const running = new Set<ChildProcess>();
process.on('exit', () => running.forEach((child) => child.kill('SIGKILL')));
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.once(signal, () => void endAll().then(() => process.exit(128 + constants.signals[signal])));

interface Launch {
  readonly stdio: StdioOptions;
  readonly environment?: Readonly<Record<string, string>>;
  readonly nodeOptions?: readonly string[];
}

/** A program on the Node that runs this one, in an environment that holds nothing but what is named. */
export function startNode(
  args: readonly string[],
  { stdio, environment = {}, nodeOptions = [] }: Launch,
): ChildProcess {
  const child = spawn(process.execPath, [...nodeOptions, ...args], {
    env: { PATH: process.env['PATH'], ...environment },
    stdio,
    serialization: 'advanced',
  });
  running.add(child);
  child.once('exit', () => running.delete(child));
  return child;
}

export function pidOf(child: ChildProcess): number {
  if (child.pid === undefined) throw new Error('A program could not be started.');
  return child.pid;
}

/** What a program says first over its channel. */
export async function firstMessage(child: ChildProcess): Promise<unknown> {
  const ended = once(child, 'exit').then(() => {
    throw new Error(`${child.spawnargs.at(-1)} ended before it was ready.`);
  });
  const [message] = (await Promise.race([once(child, 'message'), ended])) as [unknown];
  return message;
}

/** Asks a program to end, and makes it. */
export async function end(child: ChildProcess): Promise<void> {
  if (!running.has(child)) return;
  const exited = once(child, 'exit');
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), ENDS_WITHIN_MS);
  await exited;
  clearTimeout(timer);
}

export async function endAll(): Promise<void> {
  await Promise.all([...running].map(end));
}

/** Looks again and again until there is something. @throws when it takes too long */
export async function until<T>(look: () => T | undefined, what: string, withinMs = 60_000): Promise<T> {
  const deadline = performance.now() + withinMs;
  for (;;) {
    const found = look();
    if (found !== undefined) return found;
    if (performance.now() > deadline) throw new Error(`Not within ${withinMs / 1000} s: ${what}`);
    await sleep(20);
  }
}
