// The operator's command line from a checkout: builds if needed, then runs the command and ends with its exit code.
// Nothing but the command itself writes to stdout.
import { ensureBuilt } from './build.mjs';
import { inRoot, OPTIONS, runNode } from './pinned-node.mjs';

process.exitCode = (await ensureBuilt())
  ? await runNode([...OPTIONS, inRoot('dist/src/app/cli.js'), ...process.argv.slice(2)])
  : 1;
