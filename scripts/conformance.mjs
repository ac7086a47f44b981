// Runs the conformance suite and reports what is supported: npm run conformance -- [protocol ...]
import { readdirSync } from 'node:fs';
import { basename } from 'node:path';
import { inRoot, runNode } from './pinned-node.mjs';

const SUFFIX = '.conformance.spec.ts';
const specs = readdirSync(inRoot('test/conformance'), { recursive: true }).filter((path) => path.endsWith(SUFFIX));
const known = specs.map((spec) => basename(spec, SUFFIX));
const wanted = process.argv.slice(2);
const unknown = wanted.filter((protocol) => !known.includes(protocol));

if (unknown.length > 0) {
  console.error(`Unknown protocol: ${unknown.join(', ')}. Known: ${known.toSorted().join(', ')}.`);
  process.exitCode = 1;
} else {
  const names = wanted.length > 0 ? wanted : known;
  process.exitCode = await runNode(
    [
      inRoot('scripts/test.mjs'),
      '--selectProjects=unit',
      `--reporters=${inRoot('test/conformance/report.ts')}`,
      ...names.map((protocol) => `--testPathPatterns=/${protocol}\\.conformance\\.spec\\.ts$`),
    ],
    { cwd: inRoot() },
  );
}
