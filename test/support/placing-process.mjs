// A process that takes slots in Redis, and renews them until it is killed.
import 'reflect-metadata';
import './typescript-hooks.mjs';

const { redisCounts } = await import('./redis-counts.ts');
const [url, timings, slots] = process.argv.slice(2).map((argument) => JSON.parse(argument));
const counts = redisCounts(url, timings);
await counts.open();
const decisions = await Promise.all(
  slots.map((slot, index) => counts.acquire({ id: `${process.pid} ${index}`, counts: [], slots: [slot] })),
);
process.send(decisions.filter(({ refusal }) => refusal === undefined).length);
