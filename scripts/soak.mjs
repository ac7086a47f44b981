// Builds if needed and runs the soak on the pinned Node: npm run soak -- [options]
import { ensureBuilt } from './build.mjs';
import { inRoot, runNode } from './pinned-node.mjs';

const hooks = inRoot('test/support/typescript-hooks.mjs');
const program = [`--import=${hooks}`, inRoot('test/soak/main.ts'), ...process.argv.slice(2)];

process.exitCode = (await ensureBuilt()) ? await runNode(program) : 1;
