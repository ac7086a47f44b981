// Runs the server with seed data, and runs it anew whenever the sources have changed and compile. It ends when the server
// is told to stop, and when the very first start fails; later failures wait for the next change.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { watch } from 'node:fs';
import { constants } from 'node:os';
import { delimiter, dirname } from 'node:path';
import { ensureBuilt } from './build.mjs';
import { inRoot, nodeProgram, OPTIONS } from './pinned-node.mjs';

const FOLDERS = ['src', 'migrations', 'views'];
/** Editors and checkouts write several files at once. */
const SETTLE_MS = 200;

const program = nodeProgram();
const env = {
  // Beside the seed's own catalog, of which nothing answers.
  DEMO: 'on',
  // Whoever has changed something does not want to wait for long answers to end.
  SHUTDOWN_GRACE_MS: '1000',
  ...process.env,
  PATH: [dirname(program), process.env.PATH].filter(Boolean).join(delimiter),
};

/** The server that runs; undefined between two of them. */
let server;
let firstStart = true;
let stopping = false;

/** The channel lets the server notice when this process is killed. */
function start() {
  if (stopping) return;
  const child = spawn(program, [...OPTIONS, inRoot('dist/src/app/dev.js'), ...process.argv.slice(2)], {
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
    env,
  });
  const mustSucceed = firstStart;
  firstStart = false;
  server = child;
  child.once('exit', (code, signal) => {
    // Stopped to be started anew.
    if (server !== child) return;
    server = undefined;
    const status = code ?? numberOf(signal);
    if (stopping || mustSucceed || status === 0) process.exit(status);
    console.error(`The server has ended with ${status}. Waiting for a change …`);
  });
}

async function stop() {
  const old = server;
  if (old === undefined) return;
  server = undefined;
  const ended = once(old, 'exit');
  old.kill('SIGTERM');
  await ended;
}

async function restart() {
  if (!(await ensureBuilt())) return console.error('The sources do not compile. Waiting for a change …');
  await stop();
  return start();
}

/** Restarts go one after the other: a change during one of them is followed by another. */
let restarts = restart();
let settled;
function changed(_, file) {
  if (!/\.(ts|sql|hbs|svg|css|js)$/.test(file ?? '') || file.endsWith('.spec.ts')) return;
  clearTimeout(settled);
  settled = setTimeout(() => {
    restarts = restarts.then(restart);
  }, SETTLE_MS);
}
for (const folder of FOLDERS)
  watch(inRoot(folder), { recursive: true }, changed).on('error', (error) =>
    console.error(`Changes are not seen any more: ${error.message}`),
  );

const numberOf = (signal) => 128 + (constants.signals[signal] ?? 0);
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'])
  process.once(signal, () => {
    stopping = true;
    server?.kill(signal);
    // Between two servers there is nobody to pass the signal on to.
    void restarts.then(() => server ?? process.exit(numberOf(signal)));
  });
