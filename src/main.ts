import 'reflect-metadata';
import { setFlagsFromString } from 'node:v8';
import { cacheCompiledCode } from './app/compile-cache.js';
import { startOrExit } from './app/shutdown.js';
import { Config } from './platform/config/index.js';
import { isWorker } from './platform/workers/index.js';

// Bodies lie outside V8's own heap. Left to itself it collects all of that heap for every few dozen megabytes of them,
// though nothing in it has changed: with large prompts that was a third of what a call cost.
setFlagsFromString('--external-memory-accounted-in-global-limit');

// While no call runs, no object of its shapes exists. V8 forgets shapes after two collections, and with them the
// optimized code of everything that handles calls: 560 functions in a benchmark with pauses, 50 with this.
setFlagsFromString('--retain-maps-for-n-gc=100');

cacheCompiledCode();
await startOrExit(async (stopRequest) => {
  const config = Config.load();
  // Either is loaded alone: a primary has no use for what its workers are made of, and would keep it in memory.
  if (config.workers > 1 && !isWorker) await (await import('./app/primary.js')).runPrimary(config, stopRequest);
  else await (await import('./app/boot.js')).boot(config, stopRequest);
});
