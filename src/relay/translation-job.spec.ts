import { setImmediate as nextRound } from 'node:timers/promises';
import { TimeSlicer } from './translation-job.js';

/** Keeps the processor busy for so long. */
function work(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until);
}

describe('TimeSlicer', () => {
  it('runs slices in order, including slices that queue again', async () => {
    const turns = new TimeSlicer();
    const order: string[] = [];
    const slices = (name: string, left: number): void => {
      order.push(name);
      if (left > 1) turns.take(() => slices(name, left - 1));
    };
    turns.take(() => slices('a', 3));
    turns.take(() => slices('b', 2));
    while (order.length < 5) await nextRound();
    expect(order.join('')).toBe('ababa');
  });

  it('yields to the event loop when its time is used up', async () => {
    const turns = new TimeSlicer();
    const order: string[] = [];
    for (const name of ['a', 'b', 'c'])
      turns.take(() => {
        work(10);
        order.push(name);
        setImmediate(() => order.push('else'));
      });
    while (order.length < 6) await nextRound();
    expect(order).toEqual(['a', 'else', 'b', 'else', 'c', 'else']);
  });

  it('runs short slices in the same turn', async () => {
    const turns = new TimeSlicer();
    let done = 0;
    for (let index = 0; index < 5; index++) turns.take(() => (done += 1));
    expect(done).toBe(0);
    await nextRound();
    await nextRound();
    expect(done).toBeGreaterThan(1);
  });
});
