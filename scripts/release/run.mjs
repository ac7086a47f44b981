// Runs other programs and waits for them.
import { spawnSync } from 'node:child_process';
import { inRoot } from '../pinned-node.mjs';

/**
 * The output of a program; its errors go to the terminal.
 * @param {string} program
 * @param {readonly string[]} args
 * @param {import('node:child_process').SpawnSyncOptions & { accept?: (status: number | null) => boolean }} [options]
 * @returns {string}
 * @throws Error when it fails
 */
export function run(program, args, { accept = (status) => status === 0, ...options } = {}) {
  const { status, error, stdout } = spawnSync(program, args, {
    cwd: inRoot(),
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
    stdio: ['ignore', 'pipe', 'inherit'],
    ...options,
  });
  if (error !== undefined) throw error;
  if (accept(status)) return String(stdout ?? '');
  throw new Error(`${[program, ...args].join(' ')} failed with ${status}.\n${String(stdout ?? '')}`);
}
