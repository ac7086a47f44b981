// A reporter of Jest: names the slowest files at the end of a run.
import { relative } from 'node:path';

const SHOWN = 20;

export default class SlowestFiles {
  onRunComplete(_contexts, { testResults }) {
    const files = testResults
      .map(({ testFilePath, perfStats }) => ({ testFilePath, seconds: perfStats.runtime / 1000 }))
      .toSorted((a, b) => b.seconds - a.seconds)
      .slice(0, SHOWN);
    if (files.length < 2) return;
    process.stderr.write(`\nSlowest files:\n`);
    for (const { testFilePath, seconds } of files)
      process.stderr.write(`${seconds.toFixed(1).padStart(7)} s  ${relative(process.cwd(), testFilePath)}\n`);
  }
}
