// Holds dialects against what they are, and tells what of them is done: npm run conformance -- [dialect ...]
import { readdirSync } from 'node:fs';
import { basename } from 'node:path';
import { inRoot, runNode } from './pinned-node.mjs';

const SUFFIX = '.conformance.spec.ts';
const specs = readdirSync(inRoot('test/conformance'), { recursive: true }).filter((path) => path.endsWith(SUFFIX));
const known = specs.map((spec) => basename(spec, SUFFIX));
const wanted = process.argv.slice(2);
const unknown = wanted.filter((dialect) => !known.includes(dialect));

if (unknown.length > 0) {
  console.error(`There is no spec of ${unknown.join(', ')}; there are ${known.toSorted().join(', ')}.`);
  process.exitCode = 1;
} else {
  const names = wanted.length > 0 ? wanted : known;
  process.exitCode = await runNode(
    [
      inRoot('scripts/test.mjs'),
      '--selectProjects=unit',
      `--reporters=${inRoot('test/conformance/report.ts')}`,
      ...names.map((dialect) => `--testPathPatterns=/${dialect}\\.conformance\\.spec\\.ts$`),
    ],
    { cwd: inRoot() },
  );
}
