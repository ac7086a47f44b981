// Builds if needed and runs the server. The server holds one end of a channel to this process: when this one is killed,
// the channel closes and the server drains and ends instead of running on unseen.
//
// A killed npm tells nobody either: then this process takes the server with it. Its script says `exec`, so that npm is
// this process's parent, and not a shell that would go on waiting.
import { ensureBuilt } from './build.mjs';
import { inRoot, OPTIONS, runNode } from './pinned-node.mjs';

const LOOK_MS = 1000;

if (process.env.npm_lifecycle_event === 'start') {
  const npm = process.ppid;
  setInterval(() => {
    if (process.ppid !== npm) process.kill(process.pid, 'SIGTERM');
  }, LOOK_MS).unref();
}

process.exitCode = (await ensureBuilt())
  ? await runNode([...OPTIONS, inRoot('dist/src/main.js'), ...process.argv.slice(2)], {
      stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
    })
  : 1;
