// Loaded into the program by `NODE_OPTIONS=--import=…`: on SIGUSR2 it writes to its output how much CPU time the main
// thread spent at most between two turns of a short timer since it was last asked: no slice of its work was longer. CPU
// time, as a busy machine makes clocks tell of others' work.
import { writeSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';

const LOOK_MS = 5;

const cpuMs = () => {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
};

if (isMainThread) {
  let longestMs = 0;
  let beforeMs = cpuMs();
  const look = () => {
    const nowMs = cpuMs();
    longestMs = Math.max(longestMs, nowMs - beforeMs);
    beforeMs = nowMs;
  };
  setInterval(look, LOOK_MS).unref();
  process.on('SIGUSR2', () => {
    writeSync(1, `longest slice: ${longestMs.toFixed(1)} ms\n`);
    longestMs = 0;
  });
}
