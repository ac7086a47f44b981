import { setImmediate as nextRound } from 'node:timers/promises';
import { TimeSlicer } from './translation-job.js';

/** Keeps the processor busy for so long. */
function work(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until);
}

describe('turns', () => {
  it('are taken in the order of asking, also by those that ask again', async () => {
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

  it('leave room for everything else as soon as they have taken long enough', async () => {
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

  it('let short work be done together', async () => {
    const turns = new TimeSlicer();
    let done = 0;
    for (let index = 0; index < 5; index++) turns.take(() => (done += 1));
    expect(done).toBe(0);
    await nextRound();
    await nextRound();
    expect(done).toBeGreaterThan(1);
  });
});
