// Reads what the runs of Jest have left in a folder: `NAME.json`, or `NAME.log` of a run without one.
//   node .ci/results.mjs failed FILE         the test files that failed, a line each
//   node .ci/results.mjs sum STATUS FOLDER   what passed only alone, and `N passed, N failed` of all runs
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';

const [, , question, ...given] = process.argv;
const print = (line) => process.stdout.write(`${line}\n`);

/** By test file, what became of its tests; one that could not even be loaded has failed once. */
function filesOf(path) {
  if (!existsSync(path)) return new Map();
  const { testResults } = JSON.parse(readFileSync(path, 'utf8'));
  return new Map(
    testResults.map(({ name, status, assertionResults }) => {
      const count = (wanted) => assertionResults.filter((result) => result.status === wanted).length;
      const failed = count('failed');
      return [
        relative(process.cwd(), name),
        { passed: count('passed'), failed: status === 'failed' ? Math.max(1, failed) : failed },
      ];
    }),
  );
}

/** Of a terminal. */
const COLOURS = new RegExp(`${String.fromCharCode(27)}\\[[0-9;]*m`, 'g');

/** Jest closes each run with "Tests: 1 failed, 2 passed, 3 total". */
function countsIn(log) {
  const [line = ''] =
    readFileSync(log, 'utf8')
      .replaceAll(COLOURS, '')
      .match(/^Tests:.*/m) ?? [];
  const count = (word) => Number(new RegExp(`(\\d+) ${word}`).exec(line)?.[1] ?? 0);
  return { passed: count('passed'), failed: count('failed') };
}

function sum(status, folder) {
  const total = { passed: 0, failed: 0 };
  const add = ({ passed, failed }) => {
    total.passed += passed;
    total.failed += failed;
  };
  for (const log of readdirSync(folder).filter((name) => name.endsWith('.log') && !name.endsWith('-again.log'))) {
    const name = log.slice(0, -'.log'.length);
    const files = filesOf(join(folder, `${name}.json`));
    const again = filesOf(join(folder, `${name}-again.json`));
    if (files.size === 0) add(countsIn(join(folder, log)));
    for (const [file, counts] of files) {
      const second = counts.failed > 0 ? again.get(file) : undefined;
      if (second?.failed === 0) print(`Passed alone, not beside others: ${file}`);
      add(second ?? counts);
    }
  }
  // A step without tests has failed, or a run that never came to its results.
  if (status !== '0' && total.failed === 0) total.failed = 1;
  print(`${total.passed} passed, ${total.failed} failed`);
}

if (question === 'failed') {
  for (const [file, { failed }] of filesOf(given[0])) if (failed > 0) print(file);
} else sum(...given);
