// Runs Jest; arguments are passed on: npm test -- --selectProjects unit
import { inRoot, runNode } from './pinned-node.mjs';

process.exitCode = await runNode(
  [
    '--experimental-vm-modules', // our modules are ES modules, and so are Nest's
    '--disable-warning=ExperimentalWarning',
    inRoot('node_modules/jest/bin/jest.js'),
    ...process.argv.slice(2),
  ],
  { cwd: inRoot() },
);
