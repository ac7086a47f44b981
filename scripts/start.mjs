// Builds if needed and runs the server. The server holds one end of a channel to this process: when this one is killed,
// the channel closes and the server drains and ends instead of running on unseen.
import { ensureBuilt } from './build.mjs';
import { inRoot, OPTIONS, runNode } from './pinned-node.mjs';

process.exitCode = (await ensureBuilt())
  ? await runNode([...OPTIONS, inRoot('dist/src/main.js'), ...process.argv.slice(2)], {
      stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
    })
  : 1;
