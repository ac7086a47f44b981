import 'reflect-metadata';
import { setFlagsFromString } from 'node:v8';
import { boot, bootOrEnd } from './boot.js';
import { Config } from './config/index.js';

// Bodies lie outside V8's own heap. Left to itself it collects all of that heap for every few dozen megabytes of them,
// though nothing in it has changed: with large prompts that was a third of what a call cost.
setFlagsFromString('--external-memory-accounted-in-global-limit');

await bootOrEnd((told) => boot(Config.load(), told));
