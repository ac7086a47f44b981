// Runs the operator's command line, as a person would from a second terminal.
import { once } from 'node:events';
import { inRoot, OPTIONS } from '../../scripts/pinned-node.mjs';
import { startNode } from '../machine/child.ts';

/** As the tests set it; commands are not measured. */
const { NODE_COMPILE_CACHE } = process.env;

/** @returns what it printed @throws when it was refused, with its reason */
export async function runCommand(dataDir: string, ...args: string[]): Promise<string> {
  const child = startNode([inRoot('dist/src/app/cli.js'), ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    nodeOptions: OPTIONS,
    environment: { HOME: dataDir, DATA_DIR: dataDir, ...(NODE_COMPILE_CACHE !== undefined && { NODE_COMPILE_CACHE }) },
  });
  const [stdout, stderr]: [Buffer[], Buffer[]] = [[], []];
  child.stdout?.on('data', (chunk: Buffer) => stdout.push(chunk));
  child.stderr?.on('data', (chunk: Buffer) => stderr.push(chunk));
  const [code] = (await once(child, 'close')) as [number | null];
  if (code !== 0) throw new Error(`switchboard ${args.join(' ')}: ${Buffer.concat(stderr).toString()}`);
  return Buffer.concat(stdout).toString();
}
