// Runs Jest; arguments are passed on: npm test -- --selectProjects unit
// Without a choice of projects: all that need nothing but this checkout.
import { inRoot, runNode } from './pinned-node.mjs';

const given = process.argv.slice(2);
const isChosen = given.some((argument) => argument.startsWith('--selectProjects'));

process.exitCode = await runNode(
  [
    '--experimental-vm-modules', // our modules are ES modules, and so are Nest's
    '--disable-warning=ExperimentalWarning',
    inRoot('node_modules/jest/bin/jest.js'),
    ...given,
    // Last, because it takes whatever follows it for projects: also what is meant to choose by path.
    ...(isChosen ? [] : ['--selectProjects', 'unit', 'system']),
  ],
  { cwd: inRoot() },
);
