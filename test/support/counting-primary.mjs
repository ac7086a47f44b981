// A primary process that counts for its two workers. What it is sent, `[worker, taking]`, that worker asks for, and the
// response is sent back; `[worker]` alone kills it.
import 'reflect-metadata';
import cluster from 'node:cluster';
import './typescript-hooks.mjs';

const listening = (worker) =>
  new Promise((resolve) => worker.on('message', ({ listens }) => listens !== undefined && resolve()));

if (cluster.isPrimary) await countForWorkers();
else await askPrimary();

async function countForWorkers() {
  const { WorkerLinks } = await import('../../src/platform/workers/index.ts');
  const { serveLimits } = await import('../../src/platform/limits/index.ts');
  serveLimits(new WorkerLinks());
  const workers = [cluster.fork(), cluster.fork()];
  // The first thing that they say to us is that they listen.
  await Promise.all(workers.map(listening));
  for (const worker of workers)
    worker.on('message', ({ answered }) => answered !== undefined && process.send(answered));
  process.on('message', ([number, taking]) => {
    const worker = workers[number];
    if (taking !== undefined) return worker.send({ taking });
    worker.once('exit', () => process.send('gone'));
    worker.process.kill('SIGKILL');
  });
  process.on('disconnect', () => process.exit());
  process.send('ready');
}

async function askPrimary() {
  const { PrimaryLink } = await import('../../src/platform/workers/index.ts');
  const { PrimaryCounts } = await import('../../src/platform/limits/call-counts.js');
  const counts = new PrimaryCounts(new PrimaryLink());
  const answer = async (taking) => process.send({ answered: { id: taking.id, ...(await counts.acquire(taking)) } });
  process.on('message', ({ taking }) => {
    if (taking !== undefined) void answer(taking);
  });
  await counts.open();
  process.send({ listens: true });
}
