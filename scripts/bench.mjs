// Builds if needed and runs the benchmark on the pinned Node: npm run bench -- [SCENARIO…] [options]
import { ensureBuilt } from './build.mjs';
import { inRoot, runNode } from './pinned-node.mjs';

process.exitCode = (await ensureBuilt()) ? await runNode([inRoot('bench/main.ts'), ...process.argv.slice(2)]) : 1;
