// A process that takes the places it is told to take in Redis, and renews them until it is killed.
import 'reflect-metadata';
import './typescript-hooks.mjs';

const { redisCounts } = await import('./redis-counts.ts');
const [url, timings, places] = process.argv.slice(2).map((argument) => JSON.parse(argument));
const counts = redisCounts(url, timings);
await counts.open();
const decisions = await Promise.all(
  places.map((place, index) => counts.take({ id: `${process.pid} ${index}`, counts: [], places: [place] })),
);
process.send(decisions.filter(({ refusal }) => refusal === undefined).length);
