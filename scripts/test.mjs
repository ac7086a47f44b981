// Runs Jest; arguments are passed on: npm test -- --selectProjects unit
// `--lane=NAME`, which the scripts of package.json give, is one project. Without a choice: all that need nothing but
// this checkout, and no minutes each.
import { inRoot, runNode } from './pinned-node.mjs';

// Processes that tests start spend a third of their first seconds on compiling the same modules.
process.env.NODE_COMPILE_CACHE ??= inRoot('node_modules/.cache/compile');

const LANE = '--lane=';
const lanes = process.argv.slice(2).filter((argument) => argument.startsWith(LANE));
const given = process.argv.slice(2).filter((argument) => !argument.startsWith(LANE));
const projects = lanes.length > 0 ? lanes.map((lane) => lane.slice(LANE.length)) : ['unit', 'system'];
const isChosen = given.some((argument) => argument.startsWith('--selectProjects'));

process.exitCode = await runNode(
  [
    '--disable-warning=ExperimentalWarning',
    inRoot('node_modules/jest/bin/jest.js'),
    ...given,
    // Last, because it takes whatever follows it for projects: also what is meant to choose by path.
    ...(isChosen ? [] : ['--selectProjects', ...projects]),
  ],
  { cwd: inRoot() },
);
