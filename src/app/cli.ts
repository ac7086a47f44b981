import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { cacheCompiledCode } from './compile-cache.js';

/** Minimum Node version of the dependencies; `node dist/src/app/cli.js` may be run by any version. */
const OLDEST_MAJOR = 22;

if (Number.parseInt(process.versions.node, 10) < OLDEST_MAJOR) {
  const again = [fileURLToPath(new URL('../../../scripts/node.mjs', import.meta.url)), ...process.argv.slice(1)];
  process.exitCode = spawnSync(process.execPath, again, { stdio: 'inherit' }).status ?? 1;
} else {
  cacheCompiledCode();
  const { main } = await import('./cli/index.js');
  await main(process.argv.slice(2));
}
